"""Figures and foreign texts as they are shown."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

MAX_CELL = 300
MAX_PARAGRAPH = 4_000
MAX_LABEL = 40
MAX_ROWS = 200

# Controls, lone surrogates, and marks that turn the order of the text around them.
_UNPRINTABLE = ("Cc", "Cs", "Cn")
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def shown(value: float) -> str:
    """A figure with four digits that count."""
    size = abs(value)
    if size >= 10_000:
        return f"{value:,.0f}"
    if size >= 1e-4 or value == 0:
        return f"{value:.4g}"
    return f"{value:.2e}"


def printable(text: str) -> str:
    """On one line, without what no page may hold or what would turn its neighbours around."""
    kept = (" " if each.isspace() else each for each in text if each not in _TURNING)
    return " ".join("".join("�" if unicodedata.category(each) in _UNPRINTABLE else each for each in kept).split())


def clipped(text: str, most: int) -> str:
    """The text, printable; what is beyond ``most`` characters is counted in its place."""
    text = printable(text)
    if len(text) <= most:
        return text
    return f"{text[: most - 1]}… ({len(text) - most + 1:,} more characters)"


def columns(text: str) -> int:
    """How much room a text takes, in letters of the Latin script."""
    return sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)


def label(text: str) -> str:
    """The text as short as a drawing needs it."""
    text = printable(text)
    if columns(text) <= MAX_LABEL:
        return text
    while columns(text) >= MAX_LABEL:
        text = text[:-1]
    return f"{text}…"


def quantile(ordered: Sequence[float], share: float) -> float:
    """Of values in order, by linear interpolation between neighbours (Hyndman and Fan 1996, type 7)."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def five(values: Sequence[float]) -> tuple[float, float, float, float, float]:
    """Smallest, first quartile, median, third quartile, largest."""
    ordered = sorted(values)
    low, first, middle, third, high = (quantile(ordered, share) for share in (0.0, 0.25, 0.5, 0.75, 1.0))
    return low, first, middle, third, high


def thinned(values: Sequence[float], most: int) -> tuple[float, ...]:
    """The values in order; of more than ``most`` that many, evenly spaced by rank, the two ends among them."""
    ordered = sorted(values)
    if len(ordered) <= most:
        return tuple(ordered)
    return tuple(ordered[round(place * (len(ordered) - 1) / (most - 1))] for place in range(most))
