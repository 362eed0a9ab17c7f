"""What a condition may be made of. Asked by every condition of itself, whoever made it."""

from __future__ import annotations

import datetime
import math
from typing import Any

from langgraph_prefetch.errors import FilterError

Scalar = str | int | float | bool | None
"""What a field is compared with. Numbers equal numbers whatever their type, and nothing else: ``True`` is not 1."""
Path = tuple[str, ...]
"""Where a field is: its key, or the keys that lead to it through objects in objects."""

MAX_DEPTH = 32
MAX_DIGITS = 4_000
"""Of a whole number: Python shows no more than 4,300 of them as text."""


def checked_path(key: Any) -> Path:
    """A field's place, given as a key or as a tuple of keys.

    Raises:
        FilterError: it is neither, or no stored metadata can have such a key.
    """
    path = (key,) if isinstance(key, str) else key
    if not isinstance(path, tuple) or not path or not all(isinstance(each, str) and "\0" not in each for each in path):
        raise FilterError(f"a field is a key or a tuple of keys, which are texts, not {key!r}")
    if len(path) > MAX_DEPTH:
        raise FilterError(f"a field is at most {MAX_DEPTH} keys deep")
    if not all(_is_text(each) for each in path):
        raise FilterError(f"{shown(path)} has half of a surrogate pair, which is no character")
    return path


def checked_scalar(path: Path, value: Any) -> Scalar:
    """A value to compare with.

    Raises:
        FilterError: metadata cannot have such a value.
    """
    if isinstance(value, datetime.date):
        raise FilterError(
            f"{shown(path)}: metadata is JSON and has no dates. Compare with text in the form it was stored in, "
            f"such as {value.isoformat()!r}: the order of such texts is that of time"
        )
    if value is not None and not isinstance(value, str | int | float | bool):
        raise FilterError(
            f"{shown(path)} is compared with text, a number, True, False or None, not {type(value).__name__}"
        )
    if isinstance(value, float) and not math.isfinite(value):
        raise FilterError(f"{shown(path)} is compared with {value!r}, which metadata cannot hold")
    if isinstance(value, int) and value.bit_length() > MAX_DIGITS * math.log2(10):
        raise FilterError(f"{shown(path)} is compared with a number of more than {MAX_DIGITS:,} digits")
    if isinstance(value, str) and "\0" in value:
        raise FilterError(f"{shown(path)} is compared with text that has a NUL in it, which none has that is stored")
    if isinstance(value, str) and not _is_text(value):
        raise FilterError(f"{shown(path)} is compared with half of a surrogate pair, which is no character")
    return value


def checked_pattern(path: Path, pattern: Any) -> str:
    """A pattern of ``LIKE``.

    Raises:
        FilterError: it is no text, or ends in the middle of an escape.
    """
    checked = checked_scalar(path, pattern)
    if not isinstance(checked, str):
        raise FilterError(f"a pattern for {shown(path)} is text, such as '%draft%', not {pattern!r}")
    if (len(checked) - len(checked.rstrip("\\"))) % 2:
        raise FilterError(f"the pattern for {shown(path)} ends with a backslash that escapes nothing")
    return checked


def shown(path: Path) -> str:
    """A path as a message names it."""
    return repr(path[0] if len(path) == 1 else path)


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
