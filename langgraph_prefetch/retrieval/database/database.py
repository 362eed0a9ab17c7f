"""A database to run work on: from threads and from event loops, by one code path."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TypeVar

import sqlalchemy as sa

from langgraph_prefetch.errors import DatabaseClosedError
from langgraph_prefetch.retrieval.database import shared
from langgraph_prefetch.retrieval.database.address import parse, where
from langgraph_prefetch.retrieval.database.awaited import Awaited
from langgraph_prefetch.retrieval.database.limits import PoolLimits
from langgraph_prefetch.speculative import is_speculative

T = TypeVar("T")
Work = Callable[[sa.Connection], T]
"""Blocking work on a connection that is in a transaction: committed when it returns, rolled back when it raises."""


class Database:
    """PostgreSQL, through the one pool that this process has for it. Safe for threads, event loops and forks.

    Where the pool is full, real calls are served before speculations (:func:`is_speculative`), which leave some
    connections to them at all times.
    """

    def __init__(self, pool: shared.Shared) -> None:
        self._pool: shared.Shared | None = pool
        self._where = where(pool.address)

    @classmethod
    def open(
        cls, url: str | sa.URL, *, limits: PoolLimits | None = None, prepared_statements: bool | None = None
    ) -> Database:
        """Join the pool of a database. It connects when it is first used.

        Args:
            url: ``postgresql://…``, ``postgresql+psycopg://…``, or ``embedded://`` and a name for a server of one's
                own that is started when it is needed.
            limits: of the pool. Users with equal limits share it.
            prepared_statements: whether the driver may prepare statements on the server. None: it may, unless a pooler
                such as PgBouncer stands between, which is noticed.

        Raises:
            ConfigurationError: the URL names no PostgreSQL.
            MissingExtraError: an embedded server, and its library is not installed.
        """
        return cls(shared.join(parse(url), limits or PoolLimits(), prepared_statements))

    def run(self, work: Work[T], *, autocommit: bool = False) -> T:
        """Do work on this thread, in a transaction of its own.

        Args:
            work: given the connection.
            autocommit: no transaction: each statement is one of its own.

        Raises:
            DatabaseBusyError: no connection became free in time.
            SpeculationRejectedError: likewise, in a speculation.
            ServerUnreachableError: there is no server, or it went away.
            ReadOnlyServerError: a write, and it takes none.
        """
        pool = self._joined()
        with pool.gate.entered(speculative=is_speculative()):
            return pool.run(work, autocommit=autocommit)

    @contextmanager
    def connection(self, *, autocommit: bool = False) -> Iterator[sa.Connection]:
        """A connection in a transaction, committed at the end of the block; raises as :meth:`run`."""
        pool = self._joined()
        with (
            pool.gate.entered(speculative=is_speculative()),
            pool.connection(autocommit=autocommit) as connection,
            connection.begin(),
        ):
            yield connection

    async def arun(self, work: Work[T], *, autocommit: bool = False) -> T:
        """As :meth:`run`, on a thread of the database's; from any event loop, none of which it blocks.

        The work sees the caller's context variables. Cancelling the call cancels its query.
        """
        return await Awaited(self._joined(), work, speculative=is_speculative(), autocommit=autocommit).result()

    @property
    def in_use(self) -> int:
        """How many connections are in use in this process, by whoever shares the pool."""
        return self._joined().in_use()

    def close(self) -> None:
        """Leave the pool; the last to leave closes it. May be called again."""
        pool, self._pool = self._pool, None
        if pool is not None:
            shared.part(pool)

    def __enter__(self) -> Database:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Database({self._where!r}{', closed' if self._pool is None else ''})"

    def _joined(self) -> shared.Shared:
        if self._pool is None:
            raise DatabaseClosedError
        return self._pool
