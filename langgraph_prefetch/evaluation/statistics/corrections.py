"""Many tests at once: p-values made larger, so that one lucky finding among them does not count as one."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph_prefetch.errors import SampleError
from langgraph_prefetch.evaluation.statistics.samples import sample


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Holm's step-down adjustment, in the order given: the chance of any false finding stays below the level.

    The i-th smallest of m is multiplied by m - i + 1, and made no smaller than the one before it (Holm, *A simple
    sequentially rejective multiple test procedure*, Scandinavian Journal of Statistics 6, 1979).

    Raises:
        SampleError: what is no probability.
    """
    kept = sample(p_values, "p_values").tolist()
    for place, each in enumerate(kept):
        if not 0 <= each <= 1:
            raise SampleError(f"p_values[{place}] is {each}: a p-value lies between 0 and 1")
    order = sorted(range(len(kept)), key=kept.__getitem__)
    adjusted = [0.0] * len(kept)
    largest = 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(kept) - rank) * kept[place]))
        adjusted[place] = largest
    return tuple(adjusted)
