"""The part of a key that other processes can compute too: a digest. Pure.

Equal digests mean equal keys, up to a collision of SHA-256. What is told from others by identity alone (an open
connection under ``configurable``, say) exists in one process and has no digest.
"""

from __future__ import annotations

import hashlib
from typing import Any

from langgraph_prefetch.errors import UnportableError
from langgraph_prefetch.keys import Scope, SharedScope


def digest(*parts: Any) -> str:
    """Stands for ``parts`` (nested tuples of plain values and types) in every process; 64 hexadecimal digits.

    Raises:
        UnportableError: a part that only this process can tell from others.
    """
    return hashlib.sha256(_canonical(parts)).hexdigest()


def scope_value(scope: Scope) -> Any:
    """What the user's scope function gave, tuples as lists; None for the scope of a run."""
    return _plain(scope.value) if isinstance(scope, SharedScope) else None


def _plain(typed: Any) -> Any:
    kind, value = typed
    return [_plain(each) for each in value] if issubclass(kind, tuple) else value


def _canonical(value: Any) -> bytes:
    """Every value begins with its kind and length, so that no two of them read the same."""
    match value:
        case None | bool() | int() | float() | str() if type(value).__module__ == "builtins":
            # A surrogate alone is text too, though not valid UTF-8.
            return _framed(type(value).__name__, repr(value).encode("utf-8", "surrogatepass"))
        case bytes():
            return _framed("bytes", value)
        case tuple() | list():
            return _framed(type(value).__name__, b"".join(map(_canonical, value)))
        case type():
            if "<locals>" in value.__qualname__:
                raise UnportableError(value)
            return _framed("type", f"{value.__module__}:{value.__qualname__}".encode())
    raise UnportableError(value)


def _framed(kind: str, body: bytes) -> bytes:
    return b"%s:%d:%s" % (kind.encode(), len(body), body)
