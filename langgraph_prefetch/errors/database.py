"""A database that cannot be reached or used."""

from __future__ import annotations

from langgraph_prefetch.errors.base import ConfigurationError, PrefetchError


class DatabaseClosedError(ConfigurationError):
    """A database is used after it was closed."""

    def __init__(self) -> None:
        super().__init__("this Database is closed: open another, or close it after its last user")


class StoreError(PrefetchError):
    """A passage store, or the database under it, cannot do what it was asked."""


class ServerUnreachableError(StoreError):
    """No connection to the server: it does not answer, refuses the login, or ended the connection.

    Attributes:
        where: user, host, port and database; never a password.
        reason: what the driver said, in a line.
    """

    def __init__(self, where: str, reason: str) -> None:
        self.where, self.reason = where, reason
        super().__init__(f"no connection to PostgreSQL at {where}: {reason}")


class ReadOnlyServerError(StoreError):
    """The server takes no writes: it is a replica, or its transactions are read-only."""

    def __init__(self, where: str) -> None:
        self.where = where
        super().__init__(f"PostgreSQL at {where} is read-only: name its primary, or one that takes writes")


class ExtensionMissingError(StoreError):
    """The database has no pgvector.

    Attributes:
        sql: what a superuser, or the database's owner, has to run; None where the server has no such extension.
    """

    def __init__(self, where: str, sql: str | None, reason: str | None = None) -> None:
        self.where, self.sql, self.reason = where, sql, reason
        because = f" ({reason})" if reason else ""
        remedy = f"run `{sql}` there" if sql else "install it on the server: https://github.com/pgvector/pgvector"
        super().__init__(f"PostgreSQL at {where} has no extension vector{because}: {remedy}")


class DatabaseBusyError(StoreError):
    """No connection became free in time.

    Attributes:
        connections: how many there are.
        waited_seconds: how long the call waited.
    """

    def __init__(self, connections: int, waited_seconds: float) -> None:
        self.connections, self.waited_seconds = connections, waited_seconds
        super().__init__(
            f"none of {connections} connections became free in {waited_seconds:g} s: "
            "raise PoolLimits.connections or wait_seconds, or look for work that keeps them"
        )


class EmbeddedServerError(StoreError):
    """The embedded PostgreSQL cannot be started here; the message says what it said, and what to do where known."""


class ServerTimeError(StoreError, ValueError):
    """The server's clock went back, so that what was written before cannot be told from what is written now.

    Attributes:
        now: what it shows, in seconds since 1970.
        at_least: what it has shown already.
    """

    def __init__(self, now: float, at_least: float) -> None:
        self.now, self.at_least = now, at_least
        super().__init__(
            f"the clock of the database's server shows a time {at_least - now:.3f} s before one that it has shown "
            "already: index again when it has caught up"
        )
