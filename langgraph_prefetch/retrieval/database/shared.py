"""What all users of one database in one process share: its engine, its gate, its threads."""

from __future__ import annotations

import atexit
import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from langgraph_prefetch.errors import DatabaseClosedError
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.retrieval.database.address import Address, Embedded, without_secrets
from langgraph_prefetch.retrieval.database.cancelling import Cancelling
from langgraph_prefetch.retrieval.database.connections import Extension, make_engine
from langgraph_prefetch.retrieval.database.faults import meaning, unreachable
from langgraph_prefetch.retrieval.database.gate import Gate
from langgraph_prefetch.retrieval.database.limits import PoolLimits
from langgraph_prefetch.retrieval.database.workers import Workers

T = TypeVar("T")
Key = tuple[Address, PoolLimits, bool | None]


class Shared:
    """One pool. Connects, and starts an embedded server, when it is first used."""

    def __init__(self, address: Address, limits: PoolLimits, prepared: bool | None) -> None:
        self.address, self.limits, self._prepared = address, limits, prepared
        self.gate = Gate(limits)
        self.extension = Extension()
        # As many as there are connections, and as many again to cancel what those do.
        self.workers = Workers(2 * limits.connections, "langgraph-prefetch-database")
        self.users = 0
        self._closed = False
        self._lock = ForkSafeLock()
        self._engine: sa.Engine | None = None
        self._lease: Any = None
        _all.add(self)

    def run(self, work: Callable[[sa.Connection], T], *, autocommit: bool, cancelling: Cancelling | None = None) -> T:
        """Do work on a connection of the pool, inside the gate, on this thread."""
        with self.connection(autocommit=autocommit) as connection:
            if cancelling is None:
                with connection.begin():
                    return work(connection)
            with cancelling.using(connection), connection.begin():
                return work(connection)

    @contextmanager
    def connection(self, *, autocommit: bool) -> Iterator[sa.Connection]:
        """A connection of the pool, outside any transaction; the caller is inside the gate.

        Raises:
            DatabaseClosedError: its last user left while the caller waited.
            ServerUnreachableError: there is no server, or it went away.
            ReadOnlyServerError: it takes no writes.
        """
        engine = self._connectable()
        pool = engine.pool
        try:
            with self._connected(engine) as connection:
                if autocommit:
                    connection.execution_options(isolation_level="AUTOCOMMIT")
                try:
                    yield connection
                except DBAPIError as error:
                    better = meaning(error, self.address)
                    if better is None:
                        raise
                    raise better from error
        finally:
            if self._closed:
                pool.dispose()  # it came back after `close` had closed the others

    def in_use(self) -> int:
        """Connections that somebody has now."""
        engine = self._engine
        return 0 if engine is None else engine.pool.checkedout()  # type: ignore[attr-defined]

    def close(self) -> None:
        """Close idle connections now, and those in use when they come back; leave an embedded server. For good."""
        with self._lock:
            self._closed = True
            engine, lease, self._engine, self._lease = self._engine, self._lease, None, None
        self.workers.close()
        if engine is not None:
            engine.dispose()
        if lease is not None:
            lease.close()

    def say_good_bye(self) -> None:
        """At the interpreter's end: close what is idle, and wait for nobody. An embedded server notices by itself."""
        if self._engine is not None:
            self._engine.dispose()

    def after_fork(self) -> None:
        """In a forked child: the sockets belong to the parent, and so do the threads and whoever was inside."""
        self.gate.make_anew()
        self.workers.make_anew()
        if self._engine is not None:
            _inherited.append(self._engine.pool)  # kept: a connection that is collected might say good-bye
            self._engine.dispose(close=False)

    def _connected(self, engine: sa.Engine) -> sa.Connection:
        lease = self._lease
        try:
            return engine.connect()
        except DBAPIError as error:
            if lease is None:
                raise unreachable(error, self.address) from _harmless(error, self.address)
        lease.revive()  # an embedded server that was killed
        try:
            return engine.connect()
        except DBAPIError as error:
            raise unreachable(error, self.address) from error

    def _connectable(self) -> sa.Engine:
        engine = self._engine
        if engine is not None:
            return engine
        with self._lock:
            if self._closed:
                raise DatabaseClosedError
            if self._engine is None:
                self._engine = make_engine(self._url(), self.limits, self.extension, prepared=self._prepared)
            return self._engine

    def _url(self) -> sa.URL:
        if not isinstance(self.address, Embedded):
            return self.address
        from langgraph_prefetch.retrieval import embedded

        if self._lease is None:
            self._lease = embedded.use(self.address.name)
        return sa.make_url(self._lease.url)


def _harmless(error: DBAPIError, address: Address) -> DBAPIError | None:
    """The error as a cause to show, unless it tells a password."""
    return error if isinstance(address, Embedded) or str(error) == without_secrets(str(error), address) else None


_inherited: list[sa.Pool] = []
_all: weakref.WeakSet[Shared] = weakref.WeakSet()
_open: weakref.WeakValueDictionary[Key, Shared] = weakref.WeakValueDictionary()
_lock = ForkSafeLock()


def join(address: Address, limits: PoolLimits, prepared: bool | None) -> Shared:
    """The pool of that database in this process; made by the first who asks. Then :func:`part`, once."""
    key = (address, limits, prepared)
    with _lock:
        shared = _open.get(key)
        if shared is None:
            shared = _open[key] = Shared(address, limits, prepared)
        shared.users += 1
        return shared


def part(shared: Shared) -> None:
    """One user fewer; the last one closes it."""
    with _lock:
        shared.users -= 1
        last = shared.users == 0
        if last:
            _open.pop((shared.address, shared.limits, shared._prepared), None)
    if last:
        shared.close()


def _after_fork() -> None:
    for shared in list(_all):
        shared.after_fork()


def _at_exit() -> None:
    for shared in list(_all):
        shared.say_good_bye()


atexit.register(_at_exit)
os.register_at_fork(after_in_child=_after_fork)
