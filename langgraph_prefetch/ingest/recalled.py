"""What a ledger remembers of very many sources: in one piece where it can be, without an object for any of them."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph_prefetch.errors import MissingExtraError
from langgraph_prefetch.ingest.memory import MARK_BYTES, Recalled
from langgraph_prefetch.ports import ListsSources, SourceLedger

try:
    import numpy as np
except ImportError as error:
    raise MissingExtraError("numpy", "ingest") from error

_MOST = 2
"""Asked for the sources between the first and the last, a ledger may have so many times as many."""


def recalled(ledger: SourceLedger, sources: Sequence[str]) -> Recalled:
    """What is remembered of some sources, each of them there once."""
    named = sorted(sources)
    if named and isinstance(ledger, ListsSources) and (joined := _joined(named)) is not None:
        listed = ledger.listed(named[0], named[-1], _MOST * len(named))
        if listed is not None and listed.sources == joined and listed.fingerprints:
            return listed.fingerprints if named == sources else _in_order(listed.fingerprints, sources)
        if listed is not None:
            return listed.by_source()
    return ledger.fingerprints(sources)


def _joined(names: Sequence[str]) -> bytes | None:
    """As a ledger lists them; None where it could not have one of them."""
    try:
        joined = "\0".join(names).encode()
    except UnicodeEncodeError:
        return None
    return joined if joined.count(b"\0") == len(names) - 1 else None


def _in_order(marks: bytes, sources: Sequence[str]) -> bytes:
    """Marks in the order of the names, brought into that of the sources."""
    column = np.frombuffer(marks, np.uint8).reshape(-1, MARK_BYTES)
    found = np.empty_like(column)
    found[sorted(range(len(sources)), key=sources.__getitem__)] = column
    return found.tobytes()
