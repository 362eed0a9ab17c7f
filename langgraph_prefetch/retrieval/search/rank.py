"""Reciprocal rank fusion: several rankings made one.

A passage's score is the sum over the rankings of ``1 / (60 + its rank there)``, ranks from 1. Cormack, Clarke and
Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods", SIGIR 2009.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

CONSTANT = 60
"""The paper's: how little the first ranks weigh more than the next."""


def fuse(rankings: Sequence[Sequence[str]], k: int, *, constant: int = CONSTANT) -> list[tuple[str, float]]:
    """The ``k`` best ids of all rankings with their scores, best first, equals by id; each id once in a ranking."""
    scores: dict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, key in enumerate(ranking, start=1):
            scores[key] += 1 / (constant + rank)
    return sorted(scores.items(), key=lambda each: (-each[1], each[0]))[:k]
