"""How long keys may be."""

from __future__ import annotations

from langgraph_prefetch.errors import ConfigurationError

MAX_ENTRY_BYTES = 2_600
"""Texts that stand in one entry of an index together; PostgreSQL's end at 2,704 bytes, with what else is in them."""


def require_fits(what: str, *keys: str) -> None:
    """Raise ``ConfigurationError`` where keys are too long to stand in one entry of an index."""
    size = sum(len(key.encode("utf-8", "surrogatepass")) for key in keys)
    if size > MAX_ENTRY_BYTES:
        raise ConfigurationError(f"{what} may have {MAX_ENTRY_BYTES:,} bytes together, not {size:,}: shorten it")
