"""What became of earlier guesses, and what that says of the next one. Pure values; older guesses count for less."""

from __future__ import annotations

from dataclasses import dataclass

KEEP = 0.99
"""What each further guess leaves of the weight of those before it: half of it after 69 of them."""
TRUST_WEIGHT = 2.0
"""Guesses that a tool's own record needs to weigh as much as the belief that guesses are as good as they say."""
PRIOR_WEIGHT = 3.0
"""Weight, in guesses, of what a guess says of itself, against what became of others of its kind."""
SECONDS_WEIGHT = 4.0
"""Weight, in right guesses, of the seconds expected beforehand."""
DEFAULT_SECONDS = 0.5
"""What a right guess is taken to save before any retrieval of its tool was timed: the median of web searches."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Guesses whose end is known: of one tool, or of one kind of guess for it.

    Attributes:
        count: how many; like all the others faded, see `KEEP`.
        expected: how many of them were to be right by what they said of themselves (the sum of their probabilities).
        right: how many were.
        seconds: what the right ones hid, or would have, in seconds.
    """

    count: float = 0.0
    expected: float = 0.0
    right: float = 0.0
    seconds: float = 0.0

    def plus(self, probability: float, *, right: bool, seconds: float) -> Seen:
        """With one more, which had said ``probability`` of itself."""
        return Seen(
            self.count * KEEP + 1,
            self.expected * KEEP + probability,
            self.right * KEEP + right,
            self.seconds * KEEP + (seconds if right else 0.0),
        )


def trust(tool: Seen) -> float:
    """How far guesses for a tool are as good as they say, in (0, 1]: right / expected, drawn towards 1.

    A posterior mean of the rate of a Gamma-Poisson model, whose prior has its mean at 1 and weighs `TRUST_WEIGHT`.
    Guesses that are better than they say are not trusted beyond their word here; their kind's own record does that.
    """
    return min(1.0, (tool.right + TRUST_WEIGHT) / (tool.expected + TRUST_WEIGHT))


def p_served(probability: float, tool: Seen, kind: Seen) -> float:
    """P(a guess will be served), in [0, 1]: the mean of a Beta posterior.

    The prior is ``Beta(w q, w (1 - q))`` with ``w`` = `PRIOR_WEIGHT` and ``q`` what the guess says of itself times the
    tool's :func:`trust`; the data are the guesses of its kind.
    """
    return (PRIOR_WEIGHT * probability * trust(tool) + kind.right) / (PRIOR_WEIGHT + kind.count)


def seconds_saved(expected: float, tool: Seen, kind: Seen) -> float:
    """Seconds that a right guess saves: what its kind saved, drawn towards its tool's, and that to ``expected``.

    What a guess saved was measured as min(retrieval, lead), at most its call's hideable seconds.
    """
    by_tool = (SECONDS_WEIGHT * expected + tool.seconds) / (SECONDS_WEIGHT + tool.right)
    return (SECONDS_WEIGHT * by_tool + kind.seconds) / (SECONDS_WEIGHT + kind.right)
