"""The engine under a database: how a connection is opened, what it knows, when it is given up."""

from __future__ import annotations

import math
import select
from dataclasses import dataclass
from typing import Any

import psycopg
import sqlalchemy as sa
from pgvector.psycopg.halfvec import register_halfvec_info
from pgvector.psycopg.sparsevec import register_sparsevec_info
from pgvector.psycopg.vector import register_vector_info
from psycopg.types import TypeInfo
from sqlalchemy.exc import DisconnectionError, InvalidatePoolError

from langgraph_prefetch.retrieval.database.limits import PoolLimits

KNOWS_VECTORS = "langgraph_prefetch.knows_vectors"
"""In a connection's ``info``: whether the extension was there when it was opened."""

_REGISTER = {"vector": register_vector_info, "halfvec": register_halfvec_info, "sparsevec": register_sparsevec_info}
# By the extension they belong to, not by the search path: they may live in any schema. Old versions have fewer.
_INTRODUCTION = b"""
select pg_backend_pid(), t.typname, t.oid, t.typarray
from (select) as always
left join (
    pg_extension as e
    join pg_depend as d on d.refclassid = 'pg_extension'::regclass and d.refobjid = e.oid
        and d.deptype = 'e' and d.classid = 'pg_type'::regclass
    join pg_type as t on t.oid = d.objid and t.typname in ('vector', 'halfvec', 'sparsevec')
) on e.extname = 'vector'
"""


@dataclass(slots=True)
class Extension:
    """Whether the extension is known to be there: then a connection from before is of no more use."""

    found: bool = False


def make_engine(url: sa.URL, limits: PoolLimits, extension: Extension, *, prepared: bool | None) -> sa.Engine:
    """An engine that has connected to nothing yet.

    Args:
        url: with psycopg as its driver.
        limits: of its pool.
        extension: kept up to date by connections that are opened, and by whoever finds it.
        prepared: whether the driver may prepare statements on the server; None: unless a pooler stands between.
    """
    engine = sa.create_engine(
        url,
        connect_args=_arguments(url, limits),
        hide_parameters=True,  # what users search for stays out of errors
        max_overflow=0,
        pool_recycle=limits.recycle_seconds,
        pool_size=limits.connections,
        pool_timeout=limits.wait_seconds,
        pool_use_lifo=True,
        use_native_hstore=False,
    )

    def opened(connection: psycopg.Connection[Any], record: Any) -> None:
        extension.found = record.info[KNOWS_VECTORS] = _introduce(connection, prepared)

    def wanted(connection: psycopg.Connection[Any], record: Any, _: Any) -> None:
        _look_for_its_end(connection)
        if extension.found and not record.info[KNOWS_VECTORS]:
            raise DisconnectionError  # SQLAlchemy opens it anew

    sa.event.listen(engine, "connect", opened)
    sa.event.listen(engine, "checkout", wanted)
    return engine


def _arguments(url: sa.URL, limits: PoolLimits) -> dict[str, Any]:
    defaults = {
        "application_name": "langgraph-prefetch",
        "connect_timeout": max(2, math.ceil(limits.connect_seconds)),
        # A server that vanished is noticed within a minute, not after the system's two hours.
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
    }
    return {name: value for name, value in defaults.items() if name not in url.query}


def _introduce(connection: psycopg.Connection[Any], prepared: bool | None) -> bool:
    connection.autocommit = True
    rows = connection.execute(_INTRODUCTION, prepare=False).fetchall()
    connection.autocommit = False
    if prepared is None:  # a pooler makes up a process id of its own
        prepared = rows[0][0] == connection.info.backend_pid
    if not prepared:
        connection.prepare_threshold = None
    for _, name, oid, array in rows:
        if name is not None:
            _REGISTER[name](connection, TypeInfo(name, oid, array))
    return rows[0][1] is not None


def _look_for_its_end(connection: psycopg.Connection[Any]) -> None:
    """An idle connection has nothing to say but that the server ended it; asking the server would be a round trip.

    Raises:
        InvalidatePoolError: it did; then it ended the others as well, most likely.
    """
    if connection.closed:
        raise InvalidatePoolError
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    if poll.poll(0):
        raise InvalidatePoolError
