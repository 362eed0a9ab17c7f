"""A database to run work on: from threads and from event loops, by one code path."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TypeVar

import sqlalchemy as sa

from langgraph_prefetch.errors import DatabaseClosedError
from langgraph_prefetch.retrieval.database import checking, shared
from langgraph_prefetch.retrieval.database.abilities import Abilities
from langgraph_prefetch.retrieval.database.address import parse, where
from langgraph_prefetch.retrieval.database.awaited import Awaited, closed_by_a_worker
from langgraph_prefetch.retrieval.database.limits import PoolLimits
from langgraph_prefetch.speculative import is_speculative

T = TypeVar("T")
Work = Callable[[sa.Connection], T]
"""Blocking work on a connection that is in a transaction: committed when it returns, rolled back when it raises."""


class Database:
    """PostgreSQL, through the one pool that this process has for it. Safe for threads, event loops and forks.

    Where the pool is full, real calls are served before speculations (:func:`is_speculative`), which leave some
    connections to them at all times. One that is dropped without being closed leaves the pool as well, if a little
    later.
    """

    def __init__(self, pool: shared.Shared) -> None:
        self._pool: shared.Shared | None = pool
        self._where = where(pool.address)
        self._dropped = weakref.finalize(self, _leave_aside, pool)
        self._dropped.atexit = False  # then all pools say good-bye by themselves

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
        pool, speculative = self._joined(), is_speculative()
        pool.gate.enter(speculative=speculative)
        try:
            return pool.run(work, autocommit=autocommit)
        finally:
            pool.gate.leave(speculative=speculative)

    @contextmanager
    def connection(self, *, autocommit: bool = False) -> Iterator[sa.Connection]:
        """A connection in a transaction, committed at the end of the block; raises as :meth:`run`."""
        pool, speculative = self._joined(), is_speculative()
        pool.gate.enter(speculative=speculative)
        try:
            with pool.connection(autocommit=autocommit) as connection, connection.begin():
                yield connection
        finally:
            pool.gate.leave(speculative=speculative)

    async def arun(self, work: Work[T], *, autocommit: bool = False) -> T:
        """As :meth:`run`, on a thread of the database's; from any event loop, none of which it blocks.

        The work sees the caller's context variables. Cancelling the call cancels its query.
        """
        return await Awaited(self._joined(), work, speculative=is_speculative(), autocommit=autocommit).result()

    def abilities(self) -> Abilities:
        """Ask the server what it can do; raises as :meth:`run`, and for nothing that is merely missing."""
        pool = self._joined()
        return self.run(lambda connection: checking.abilities(connection, pool))

    def check(self, *, create_extension: bool = True, writable: bool = True) -> Abilities:
        """Make sure that passages can be kept here, at the start rather than at each query.

        Args:
            create_extension: install pgvector in the database where it is missing and the user may.
            writable: writes are wanted.

        Raises:
            ServerUnreachableError: there is no server.
            ReadOnlyServerError: writes are wanted, and it takes none.
            ExtensionMissingError: there is no pgvector; the message has the SQL to run.
        """
        pool, found = self._joined(), self.abilities()
        if create_extension and found.available and not found.pgvector and not found.read_only:
            self.run(lambda connection: checking.create_extension(connection, pool))
            found = self.abilities()
        problem = checking.complaint(found, pool.address, writable=writable)
        if problem is not None:
            raise problem
        return found

    @property
    def in_use(self) -> int:
        """How many connections are in use in this process, by whoever shares the pool."""
        return self._joined().in_use()

    def close(self) -> None:
        """Leave the pool; the last to leave closes it. May be called again."""
        pool = self._leaving()
        if pool is not None:
            shared.part(pool)

    async def aclose(self) -> None:
        """As :meth:`close`, without blocking the event loop: closing connections, and stopping a server, takes time."""
        pool = self._leaving()
        if pool is not None:
            await closed_by_a_worker(pool)

    async def __aenter__(self) -> Database:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

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

    def _leaving(self) -> shared.Shared | None:
        self._dropped.detach()
        pool, self._pool = self._pool, None
        return pool


def _leave_aside(pool: shared.Shared) -> None:
    """Leave the pool on another thread: garbage is collected anywhere, also where this thread holds the pools' lock."""
    with suppress(RuntimeError):  # no more threads, at the interpreter's end
        threading.Thread(target=shared.part, args=(pool,), name="langgraph-prefetch-dropped", daemon=True).start()
