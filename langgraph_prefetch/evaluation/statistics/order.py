"""Order statistics of very many numbers that are never written down: all differences, all averages of pairs."""

from __future__ import annotations

from collections.abc import Callable

from langgraph_prefetch.evaluation.statistics._scipy import Array, np

_STEPS = 200


def kth_difference(first: Array, second: Array, k: int) -> float:
    """The ``k``-th smallest of all ``second[j] - first[i]``, ``k`` from 1. Both arrays sorted."""

    def up_to(limit: float) -> int:
        return int(np.searchsorted(second, first + limit, side="right").sum())

    def above(limit: float) -> Array:
        following = np.searchsorted(second, first + limit, side="right")
        there = following < second.size
        return second[following[there]] - first[there]

    return _kth(up_to, above, k, float(second[0] - first[-1]) - _least(first, second), float(second[-1] - first[0]))


def kth_walsh(values: Array, k: int) -> float:
    """The ``k``-th smallest of all ``(x[i] + x[j]) / 2`` with ``i <= j``, ``k`` from 1. The array sorted."""

    def up_to(limit: float) -> int:
        ordered = int(np.searchsorted(values, 2 * limit - values, side="right").sum())
        return (ordered + int(np.count_nonzero(values <= limit))) // 2

    def above(limit: float) -> Array:
        following = np.searchsorted(values, 2 * limit - values, side="right")
        there = following < values.size
        return (values[following[there]] + values[there]) / 2

    return _kth(up_to, above, k, float(values[0]) - _least(values, values), float(values[-1]))


def median_of(kth: Callable[[int], float], count: int) -> float:
    """The median of ``count`` numbers, of which ``kth`` gives the k-th smallest."""
    middle = kth((count + 1) // 2)
    return middle if count % 2 else (middle + kth(count // 2 + 1)) / 2


def _least(first: Array, second: Array) -> float:
    """By how much a limit must be lower not to be lost in the digits of the numbers it is added to."""
    return float(8 * np.spacing(max(np.abs(first).max(), np.abs(second).max())))


def _kth(up_to: Callable[[float], int], above: Callable[[float], Array], k: int, low: float, high: float) -> float:
    """Halve the range until nothing but the number looked for lies in it, then take it.

    ``low`` lies below all of them. ``up_to`` counts the numbers at or below a limit; ``above`` has the smallest above
    it among what it returns.
    """
    for _ in range(_STEPS):
        middle = low + (high - low) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if up_to(middle) >= k else (middle, high)
    return float(above(low).min())
