"""The check at the start: all that is missing is said before the first search, with what to do."""

from __future__ import annotations

import psycopg
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from langgraph_prefetch.errors import ExtensionMissingError, ReadOnlyServerError, StoreError
from langgraph_prefetch.retrieval.database.abilities import Abilities, ask
from langgraph_prefetch.retrieval.database.address import Address, where
from langgraph_prefetch.retrieval.database.shared import Shared

CREATE_EXTENSION = "create extension if not exists vector"


def complaint(found: Abilities, address: Address, *, writable: bool) -> StoreError | None:
    """What keeps this database from holding passages; None where nothing does. Pure."""
    if writable and found.read_only:
        return ReadOnlyServerError(where(address))
    if found.pgvector is None:
        return ExtensionMissingError(where(address), CREATE_EXTENSION if found.available else None)
    return None


def abilities(connection: sa.Connection, pool: Shared) -> Abilities:
    """What the server can do. Connections that were opened before the extension was there are replaced."""
    found = ask(connection)
    pool.extension.found = found.pgvector is not None
    return found


def create_extension(connection: sa.Connection, pool: Shared) -> None:
    """Install pgvector in the database.

    Raises:
        ExtensionMissingError: the user may not, or the server has none.
    """
    try:
        # Two at once would collide in the catalog; the second one waits, and finds it there.
        connection.execute(sa.text("select pg_advisory_xact_lock(hashtext('langgraph_prefetch.extension'))"))
        connection.execute(sa.text(CREATE_EXTENSION))
    except DBAPIError as error:
        if isinstance(error.orig, psycopg.errors.InsufficientPrivilege | psycopg.errors.FeatureNotSupported):
            reason = error.orig.diag.message_primary
            raise ExtensionMissingError(where(pool.address), CREATE_EXTENSION, reason) from error
        raise
