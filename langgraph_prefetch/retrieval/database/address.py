"""What a database's URL says, and how to speak of it without its password."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.retrieval.server_names import DEFAULT_NAME, require_server_name

SCHEME = "postgresql+psycopg"
_OURS = ("postgresql", "postgres", SCHEME)
_EMBEDDED = "embedded://"
_SECRET_OPTIONS = ("password", "sslpassword")


@dataclass(frozen=True, slots=True)
class Embedded:
    """A server of the user's own, from the wheel, by its name."""

    name: str = DEFAULT_NAME

    def __post_init__(self) -> None:
        require_server_name(self.name)


Address = sa.URL | Embedded


def parse(url: str | sa.URL) -> Address:
    """What a URL names.

    Raises:
        ConfigurationError: it names no PostgreSQL, or another driver than psycopg.
    """
    if isinstance(url, str) and url.startswith(_EMBEDDED):
        return Embedded(url.removeprefix(_EMBEDDED).rstrip("/") or DEFAULT_NAME)
    try:
        parsed = sa.make_url(url)
    except (ArgumentError, ValueError, TypeError):
        raise ConfigurationError(
            "not a database URL: write postgresql://user:password@host:5432/database, or embedded://"
        ) from None
    if parsed.drivername == "embedded":
        return Embedded(parsed.host or DEFAULT_NAME)
    if parsed.drivername not in _OURS:
        raise ConfigurationError(
            f"a URL for {parsed.drivername}: write postgresql://… or {SCHEME}://… (the driver is psycopg 3), or embedded://"
        )
    return parsed.set(drivername=SCHEME)


def where(address: Address) -> str:
    """The address for people: user, host, port, database; no password, no options."""
    if isinstance(address, Embedded):
        return f"{_EMBEDDED}{address.name}"
    host = address.host or _text(address.query.get("host")) or "localhost"
    port = f":{address.port}" if address.port else ""
    user = f"{address.username}@" if address.username else ""
    return f"{user}{host}{port}/{address.database or ''}"


def without_secrets(text: str, address: Address) -> str:
    """A text of the driver's, with every password of the address starred out."""
    if isinstance(address, Embedded):
        return text
    secrets = [address.password, *(_text(address.query.get(name)) for name in _SECRET_OPTIONS)]
    for secret in secrets:
        if secret:
            text = text.replace(str(secret), "***")
    return text


def _text(value: str | tuple[str, ...] | None) -> str:
    return value if isinstance(value, str) else ",".join(value or ())
