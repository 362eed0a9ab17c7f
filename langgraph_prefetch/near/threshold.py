"""How far down the score may answers be served? Risk control by fixed-sequence testing.

Learn then Test: for each threshold, from the strictest on, the hypothesis "of the calls served under it more than
``epsilon`` get a wrong set" is tested on calls whose right answer is known; the first that cannot be rejected ends the
sequence, and the last rejected one is used. The p-value is the exact binomial tail (that of the Clopper-Pearson bound).
With probability of at least ``confidence`` over the calls tested, every threshold that passes keeps the bound: the
sequence is fixed before the calls are seen, so no correction for testing many is due. Nothing is assumed about the
score or the calls, but that the calls to come are drawn as the tested ones were.

- Angelopoulos, Bates, Candès, Jordan, Lei, *Learn then Test: calibrating predictive algorithms to achieve risk
  control* (2021), section 2.3 (fixed-sequence testing) and appendix B (binomial p-values).
- Bates, Angelopoulos, Lei, Malik, Jordan, *Distribution-free, risk-controlling prediction sets*, J. ACM 68 (2021).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from langgraph_prefetch.near.binomial import at_most, least_trials

GRID: tuple[float, ...] = tuple(step / 20 for step in range(20, -31, -1))
"""The thresholds of the reach (see :mod:`~langgraph_prefetch.near.reach`), strictest first: 1, where the certificate
ends, down to -1.5."""
_ROOM = 1.25


@dataclass(frozen=True, slots=True)
class Checked:
    """A call whose right answer became known: its score, and whether the local answer was another."""

    reach: float
    wrong: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """A threshold that was tested: calls under it, how many of them wrong, and the p-value."""

    threshold: float
    calls: int
    wrong: int
    p_value: float


def first_threshold(scores: Sequence[float], calls: int, epsilon: float, confidence: float) -> int:
    """Where in :data:`GRID` to begin, so that a test of ``calls`` calls has enough under the first threshold.

    Args:
        scores: of earlier calls. None of them may be among those tested, or the sequence would not be fixed.
        calls: how many will be tested.
        epsilon: the bound.
        confidence: of the test.
    """
    wanted = min(0.95, _ROOM * least_trials(epsilon, confidence) / max(1, calls)) * len(scores)
    ordered = sorted(scores)
    for at, threshold in enumerate(GRID):
        if len(ordered) - bisect_right(ordered, threshold) >= wanted:
            return at
    return len(GRID) - 1


def passing(calls: Sequence[Checked], first: int, epsilon: float, confidence: float) -> tuple[Passed, ...]:
    """The thresholds that pass, strictest first, beginning at ``GRID[first]``; none where too little is known.

    A call is under a threshold if its reach is above it.
    """
    ordered = sorted(calls, key=lambda call: -call.reach)
    passed: list[Passed] = []
    under = wrong = 0
    for threshold in GRID[first:]:
        while under < len(ordered) and ordered[under].reach > threshold:
            wrong += ordered[under].wrong
            under += 1
        p_value = at_most(wrong, under, epsilon) if under else 1.0
        if p_value > 1 - confidence:
            break
        passed.append(Passed(threshold=threshold, calls=under, wrong=wrong, p_value=p_value))
    return tuple(passed)
