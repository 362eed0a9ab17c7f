"""Numbers on their way into a statistic: what is no number is refused by name, before it can become a NaN in a mean."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from langgraph_prefetch.errors import SampleError
from langgraph_prefetch.evaluation.statistics._scipy import Array, np

NOTHING = "no observations"
ALL_EQUAL = "all observations are equal"


def sample(values: Sequence[float], name: str = "values") -> Array:
    """One sample as an array; it may be empty.

    Raises:
        SampleError: a value that is not a finite number; the message names the sample and the place.
    """
    kept = np.empty(len(values))
    for place, value in enumerate(values):
        try:
            kept[place] = value
        except (TypeError, ValueError):
            raise SampleError(f"{name}[{place}] is {type(value).__name__}, not a number") from None
        if not math.isfinite(kept[place]):
            raise SampleError(f"{name}[{place}] is {kept[place]}: leave failed observations out, and say how many")
    return kept


def positive(values: Sequence[float], name: str = "values") -> Array:
    """:func:`sample` of numbers above zero, which have logarithms.

    Raises:
        SampleError: a value at or below zero, or none at all.
    """
    kept = sample(values, name)
    for place in np.flatnonzero(kept <= 0)[:1]:
        raise SampleError(f"{name}[{place}] is {kept[place]}: a ratio needs numbers above zero")
    return kept


def same_length(first: Sequence[object], second: Sequence[object]) -> None:
    """Refuse samples that cannot be pairs.

    Raises:
        SampleError: their lengths differ.
    """
    if len(first) != len(second):
        raise SampleError(
            f"pairs need samples of equal length, not {len(first)} and {len(second)}: leave out what has no partner"
        )


def named_samples(groups: Mapping[str, Sequence[float]]) -> tuple[dict[str, Array], tuple[str, ...]]:
    """The groups that have observations, and the names of those that have none."""
    arrays = {name: sample(values, name) for name, values in groups.items()}
    return {name: each for name, each in arrays.items() if each.size}, tuple(n for n, a in arrays.items() if not a.size)


def share(value: float, name: str) -> float:
    """A number strictly between 0 and 1, such as the level of an interval.

    Raises:
        SampleError: it is not.
    """
    if not 0 < value < 1:
        raise SampleError(f"{name} lies between 0 and 1, such as 0.95, not {value!r}")
    return value


def joined(*notes: str) -> str:
    """Notes as one, the empty ones left out."""
    return "; ".join(note for note in notes if note)
