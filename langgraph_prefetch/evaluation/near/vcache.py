"""vCache's decision rule, written from the paper.

Schroeder et al., *vCache: verified semantic prompt caching* (2025): for every cached entry the probability that its
answer is right at similarity ``s`` is a logistic curve with that entry's own threshold ``t`` and slope; its parameters
are fitted to what was observed of the entry. A call is answered from the cache unless a draw falls below ::

    tau = min over e of  1 - delta / (1 - (1 - e) L(s; t_e, slope))

where ``t_e`` is the upper end of the confidence band of ``t`` at level ``1 - e``: then at most ``delta`` of all calls
are answered wrongly. The band is that of the normal approximation, the slope is fitted on a grid.
"""

from __future__ import annotations

import math
from statistics import NormalDist

_SLOPES = (5.0, 10.0, 20.0, 40.0, 80.0)
_LEVELS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
_THRESHOLDS = tuple(0.3 + step / 50 for step in range(41))
_LEAST = 3


class VCache:
    """What was learned of each entry. ``delta``: the share of calls that may be answered wrongly."""

    def __init__(self, delta: float) -> None:
        self._delta = delta
        self._seen: dict[int, list[tuple[float, bool]]] = {}
        self._fits: dict[int, tuple[float, float, float]] = {}

    def exploits(self, entry: int, similarity: float, draw: float) -> bool:
        """Whether a call as similar to ``entry`` is answered with it."""
        if len(self._seen.get(entry, ())) < _LEAST:
            return False
        threshold, slope, error = self._fits.setdefault(entry, _fit(self._seen[entry]))
        explore = min(
            1 - self._delta / max(self._delta, 1 - (1 - level) * _right(similarity, threshold + z * error, slope))
            for level, z in ((each, NormalDist().inv_cdf(1 - each)) for each in _LEVELS)
        )
        return draw >= explore

    def learn(self, entry: int, similarity: float, *, right: bool) -> None:
        """A call that was searched shows whether ``entry`` would have been right."""
        self._seen.setdefault(entry, []).append((similarity, right))
        self._fits.pop(entry, None)


def _right(similarity: float, threshold: float, slope: float) -> float:
    return 1 / (1 + math.exp(-max(-500.0, min(500.0, slope * (similarity - threshold)))))


def _fit(seen: list[tuple[float, bool]]) -> tuple[float, float, float]:
    """The likeliest threshold and slope, and the standard error of the threshold."""
    best = max(
        ((threshold, slope) for threshold in _THRESHOLDS for slope in _SLOPES),
        key=lambda pair: sum(
            math.log(max(1e-12, chance if right else 1 - chance))
            for chance, right in ((_right(each, *pair), right) for each, right in seen)
        ),
    )
    chances = [_right(each, *best) for each, _ in seen]
    information = best[1] ** 2 * sum(chance * (1 - chance) for chance in chances)
    return (*best, min(1.0, 1 / math.sqrt(information)) if information > 0 else 1.0)
