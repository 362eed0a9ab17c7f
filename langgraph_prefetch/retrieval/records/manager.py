"""LangChain's record manager, in the database that the passages are in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import psycopg
import sqlalchemy as sa
from langchain_core.indexing import RecordManager
from sqlalchemy.exc import DBAPIError

from langgraph_prefetch.errors import ConfigurationError, ServerTimeError
from langgraph_prefetch.retrieval.database import Database
from langgraph_prefetch.retrieval.driver import Cursor, driver_cursor, execute, fetch_one
from langgraph_prefetch.retrieval.records import manager_sql
from langgraph_prefetch.retrieval.records.binary import texts
from langgraph_prefetch.retrieval.schema import migrate
from langgraph_prefetch.retrieval.schema.collections import is_storable
from langgraph_prefetch.retrieval.schema.sizes import require_fits
from langgraph_prefetch.retrieval.schema.tables import quoted

T = TypeVar("T")
_ANY = ("utf-8", "surrogatepass")  # what cannot be stored is refused elsewhere


class PgRecordManager(RecordManager):
    """What LangChain's ``index`` and ``aindex`` wrote and when, by the database's clock.

    Each call is one round trip, or two in a transaction, however many keys it has.

    Args:
        namespace: keeps the records of several indexes apart; one for each collection and tenant will do.
        database: where: that of the store, or its URL, which is opened then and closed by :meth:`close`.
        schema: the PostgreSQL schema of the tables.

    Raises:
        ConfigurationError: the namespace is none that the database can keep; by any call, where ``create_schema`` was
            never called.
    """

    def __init__(self, namespace: str, database: Database | str | sa.URL, *, schema: str = "public") -> None:
        if not is_storable(namespace):
            raise ConfigurationError(f"a namespace is text without NUL, not {namespace!r}")
        require_fits("the namespace and a key", namespace)
        super().__init__(namespace)
        self._own = not isinstance(database, Database)
        self._database = database if isinstance(database, Database) else Database.open(database)
        self._schema, self._sql = schema, manager_sql.statements(quoted(schema))

    def close(self) -> None:
        """Close the database, if it was opened here. May be called again."""
        if self._own:
            self._database.close()

    def create_schema(self) -> None:
        """Make the tables, or bring them up to date; does nothing where they are."""
        self._database.run(self._migrate)

    async def acreate_schema(self) -> None:
        """As ``create_schema``."""
        await self._database.arun(self._migrate)

    def get_time(self) -> float:
        """Seconds since 1970, by the server's clock."""
        return self._run(self._time)

    async def aget_time(self) -> float:
        """As ``get_time``."""
        return await self._arun(self._time)

    def update(
        self, keys: Sequence[str], *, group_ids: Sequence[str | None] | None = None, time_at_least: float | None = None
    ) -> None:
        """Record that the keys were written now, and to which groups they belong; to none if not said.

        Raises:
            ConfigurationError: a ``ValueError`` too: not as many groups as keys, or a key that is too long.
            ServerTimeError: a ``ValueError`` too: the server's clock is before ``time_at_least``.
        """
        if keys:
            self._run(self._update(keys, group_ids, time_at_least))

    async def aupdate(
        self, keys: Sequence[str], *, group_ids: Sequence[str | None] | None = None, time_at_least: float | None = None
    ) -> None:
        """As ``update``."""
        if keys:
            await self._arun(self._update(keys, group_ids, time_at_least))

    def exists(self, keys: Sequence[str]) -> list[bool]:
        """Whether each of the keys is recorded."""
        return self._run(self._exists(keys)) if keys else []

    async def aexists(self, keys: Sequence[str]) -> list[bool]:
        """As ``exists``."""
        return await self._arun(self._exists(keys)) if keys else []

    def list_keys(
        self,
        *,
        before: float | None = None,
        after: float | None = None,
        group_ids: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[str]:
        """The keys last written before and after these times, of these groups; the oldest first.

        As everywhere in LangChain, a limit of 0 is none, and so is an empty list of groups.
        """
        return self._run(self._list(before, after, group_ids, limit))

    async def alist_keys(
        self,
        *,
        before: float | None = None,
        after: float | None = None,
        group_ids: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[str]:
        """As ``list_keys``."""
        return await self._arun(self._list(before, after, group_ids, limit))

    def delete_keys(self, keys: Sequence[str]) -> None:
        """Forget the keys."""
        if keys:
            self._run(self._delete(keys))

    async def adelete_keys(self, keys: Sequence[str]) -> None:
        """As ``delete_keys``."""
        if keys:
            await self._arun(self._delete(keys))

    def _migrate(self, connection: sa.Connection) -> None:
        migrate(connection, self._schema)

    def _time(self, cursor: Cursor) -> float:
        (now,) = fetch_one(cursor, self._sql.now)
        return float(now)

    def _update(
        self, keys: Sequence[str], group_ids: Sequence[str | None] | None, time_at_least: float | None
    ) -> Callable[[Cursor], None]:
        if group_ids and len(group_ids) != len(keys):
            raise ConfigurationError(f"{len(keys)} keys cannot have {len(group_ids)} group ids: give one for each")
        require_fits("the namespace and a key", self.namespace, max(keys, key=lambda key: len(key.encode(*_ANY))))
        # The last of several wins; in order, so that two updates of the same keys wait for each other.
        groups = dict(sorted(zip(keys, group_ids or [None] * len(keys), strict=True), key=lambda pair: pair[0]))
        parameters = (self.namespace, texts(groups), texts(list(groups.values())))

        def work(cursor: Cursor) -> None:
            if time_at_least and time_at_least > (now := self._time(cursor)):
                raise ServerTimeError(now, time_at_least)
            execute(cursor, self._sql.update, parameters)

        return work

    def _exists(self, keys: Sequence[str]) -> Callable[[Cursor], list[bool]]:
        parameters = (self.namespace, texts(list(set(keys))))

        def work(cursor: Cursor) -> list[bool]:
            found = set(fetch_one(cursor, self._sql.known, parameters)[0] or ())
            return [key in found for key in keys]

        return work

    def _list(
        self, before: float | None, after: float | None, group_ids: Sequence[str] | None, limit: int | None
    ) -> Callable[[Cursor], list[str]]:
        query, given = manager_sql.listing(self._sql.listed, before, after, texts(group_ids) if group_ids else None)
        parameters = (self.namespace, *given, limit or None)
        return lambda cursor: list(fetch_one(cursor, query, parameters)[0] or ())

    def _delete(self, keys: Sequence[str]) -> Callable[[Cursor], int]:
        return lambda cursor: execute(cursor, self._sql.delete, (self.namespace, texts(sorted(set(keys)))))

    def _run(self, work: Callable[[Cursor], T]) -> T:
        return self._database.run(_on_cursor(work))

    async def _arun(self, work: Callable[[Cursor], T]) -> T:
        return await self._database.arun(_on_cursor(work))


def _on_cursor(work: Callable[[Cursor], T]) -> Callable[[sa.Connection], T]:
    def on(connection: sa.Connection) -> T:
        try:
            with driver_cursor(connection) as cursor:
                return work(cursor)
        except DBAPIError as error:
            if isinstance(error.orig, psycopg.errors.UndefinedTable):
                raise ConfigurationError("there are no tables for records yet: call create_schema() first") from error
            raise

    return on
