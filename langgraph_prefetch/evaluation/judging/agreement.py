"""How far several judges agree, and how far beyond chance."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far judges agree on the subjects that all of them judged.

    Attributes:
        judges, subjects: how many.
        raw: the share of pairs of judges that said exactly the same, from 0 to 1; None without two judges or subjects.
        kappa: agreement beyond chance: 1 is perfect, 0 is chance. None where chance alone would agree always, as when
            all judges always say one and the same thing.
        name: of the kappa.
    """

    judges: int
    subjects: int
    raw: float | None
    kappa: float | None
    name: str


def agreement_of(ratings: Sequence[Sequence[Hashable]]) -> Agreement:
    """Of categories without an order, one row for each subject, one entry for each judge.

    Cohen's kappa (1960) of two judges, Fleiss' kappa (1971) of more.
    """
    judges = len(ratings[0]) if ratings else 0
    if judges < 2:
        return Agreement(judges=judges, subjects=len(ratings), raw=None, kappa=None, name="")
    raw = _raw(ratings, judges)
    if judges == 2:
        kappa, name = _beyond(raw, _chance_of_two(ratings)), "Cohen's kappa"
    else:
        kappa, name = _beyond(raw, _chance(ratings)), "Fleiss' kappa"
    return Agreement(judges=judges, subjects=len(ratings), raw=raw, kappa=kappa, name=name)


def agreement_of_scores(ratings: Sequence[Sequence[float]]) -> Agreement:
    """Of scores: near is better than far, by the square of the distance.

    Weighted kappa (Cohen 1968) of two judges; of more the mean over all pairs of judges (Light 1971).
    """
    judges = len(ratings[0]) if ratings else 0
    if judges < 2:
        return Agreement(judges=judges, subjects=len(ratings), raw=None, kappa=None, name="")
    columns = list(zip(*ratings, strict=True))
    found = [_weighted(one, other) for one, other in itertools.combinations(columns, 2)]
    known = [kappa for kappa in found if kappa is not None]
    return Agreement(
        judges=judges,
        subjects=len(ratings),
        raw=_raw(ratings, judges),
        kappa=math.fsum(known) / len(known) if len(known) == len(found) else None,
        name="weighted kappa" if judges == 2 else "weighted kappa, mean of pairs",
    )


def _raw(ratings: Sequence[Sequence[Hashable]], judges: int) -> float:
    pairs = judges * (judges - 1)
    agreeing = (sum(count * (count - 1) for count in Counter(row).values()) / pairs for row in ratings)
    return math.fsum(agreeing) / len(ratings)


def _chance_of_two(ratings: Sequence[Sequence[Hashable]]) -> float:
    first, second = Counter(row[0] for row in ratings), Counter(row[1] for row in ratings)
    return sum(first[each] * second[each] for each in first) / len(ratings) ** 2


def _chance(ratings: Sequence[Sequence[Hashable]]) -> float:
    counts = Counter(each for row in ratings for each in row)
    return sum(count**2 for count in counts.values()) / counts.total() ** 2


def _beyond(raw: float, chance: float) -> float | None:
    return None if math.isclose(chance, 1.0) else (raw - chance) / (1 - chance)


def _weighted(one: Sequence[float], other: Sequence[float]) -> float | None:
    seen = math.fsum((a - b) ** 2 for a, b in zip(one, other, strict=True)) / len(one)
    by_chance = math.fsum((a - b) ** 2 for a in one for b in other) / len(one) ** 2
    return None if math.isclose(by_chance, 0.0, abs_tol=1e-12) else 1 - seen / by_chance
