"""Counts and durations as a person reads them."""

from __future__ import annotations

_MILLISECONDS_BELOW = 0.0995
"""Two digits of milliseconds below, two decimals of seconds from there on."""


def count(number: int, what: str) -> str:
    """Such as ``1 call`` and ``1,200 calls``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """Such as ``0.5 ms``, ``22 ms`` and ``1.40 s``."""
    return f"{1000 * seconds:.2g} ms" if seconds < _MILLISECONDS_BELOW else f"{seconds:.2f} s"
