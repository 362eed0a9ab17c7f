"""What the driver's errors mean for a user."""

from __future__ import annotations

import psycopg
from sqlalchemy.exc import DBAPIError

from langgraph_prefetch.errors import ReadOnlyServerError, ServerUnreachableError, StoreError
from langgraph_prefetch.retrieval.database.address import Address, where, without_secrets


def unreachable(error: BaseException, address: Address) -> ServerUnreachableError:
    """Nobody to talk to."""
    said = getattr(error, "orig", None) or error
    lines = [line.strip() for line in str(said).splitlines() if line.strip()]
    return ServerUnreachableError(where(address), without_secrets(lines[0] if lines else type(said).__name__, address))


def meaning(error: DBAPIError, address: Address) -> StoreError | None:
    """An error of ours that says more than the driver's; None where the driver's says it all."""
    if error.connection_invalidated or isinstance(error.orig, psycopg.errors.AdminShutdown):
        return unreachable(error, address)
    if isinstance(error.orig, psycopg.errors.ReadOnlySqlTransaction):
        return ReadOnlyServerError(where(address))
    return None
