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
_LEVELS = tuple((level, NormalDist().inv_cdf(1 - level)) for level in (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5))
_THRESHOLDS = tuple(0.3 + step / 50 for step in range(41))
_LEAST = 3


_GRID = tuple((threshold, slope) for threshold in _THRESHOLDS for slope in _SLOPES)


class _Entry:
    """What was seen of one cached query, and how likely each pair of parameters makes it."""

    def __init__(self) -> None:
        self._similarities: list[float] = []
        self._likelihoods = [0.0] * len(_GRID)
        self._fit: tuple[float, float, float] | None = None

    def __len__(self) -> int:
        return len(self._similarities)

    def add(self, similarity: float, *, right: bool) -> None:
        self._similarities.append(similarity)
        self._fit = None
        for at, pair in enumerate(_GRID):
            chance = _right(similarity, *pair)
            self._likelihoods[at] += math.log(max(1e-12, chance if right else 1 - chance))

    def fit(self) -> tuple[float, float, float]:
        """The likeliest threshold and slope, and the standard error of the threshold."""
        if self._fit is None:
            threshold, slope = _GRID[max(range(len(_GRID)), key=self._likelihoods.__getitem__)]
            chances = [_right(each, threshold, slope) for each in self._similarities]
            information = slope**2 * sum(chance * (1 - chance) for chance in chances)
            self._fit = (threshold, slope, min(1.0, 1 / math.sqrt(information)) if information > 0 else 1.0)
        return self._fit


class VCache:
    """What was learned of each entry. ``delta``: the share of calls that may be answered wrongly."""

    def __init__(self, delta: float) -> None:
        self._delta = delta
        self._entries: dict[int, _Entry] = {}

    def exploits(self, entry: int, similarity: float, draw: float) -> bool:
        """Whether a call as similar to ``entry`` is answered with it."""
        seen = self._entries.get(entry)
        if seen is None or len(seen) < _LEAST:
            return False
        threshold, slope, error = seen.fit()
        explore = min(
            1 - self._delta / max(self._delta, 1 - (1 - level) * _right(similarity, threshold + z * error, slope))
            for level, z in _LEVELS
        )
        return draw >= explore

    def learn(self, entry: int, similarity: float, *, right: bool) -> None:
        """A call that was searched shows whether ``entry`` would have been right."""
        self._entries.setdefault(entry, _Entry()).add(similarity, right=right)


def _right(similarity: float, threshold: float, slope: float) -> float:
    return 1 / (1 + math.exp(-max(-500.0, min(500.0, slope * (similarity - threshold)))))
