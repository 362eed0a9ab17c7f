"""Cues fitted to somebody's own traces, drawn towards those of the package: no evidence, no change. Pure.

Weights: the clause model is a noisy-OR of an intent and a search cue (see `detector`), so the step searches if either
cue "fires". The weights are a maximum a posteriori estimate by expectation-maximisation (Dempster, Laird and Rubin,
1977): the E step shares each search out between the two cues, the M step is the mean of a Beta posterior. Cues against
are left as they are: too few traces show them.

Rates: of each row, the mean of a Beta posterior. They rank the candidates and are their probabilities, so fitting them
is the calibration.

Runs of one question say the same again, so a question counts once for each pair of cues and each row, with the share of
its cases that came true; all numbers of observations are numbers of questions.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import TypeVar

from langgraph_prefetch.evaluation.fit_reading import Candidate, Directive
from langgraph_prefetch.intent.cues import CueSet
from langgraph_prefetch.intent.likelihood import rates_of

Kind = TypeVar("Kind", bound=Hashable)

WEIGHT_PRIOR = 50.0
"""Questions that the traces need to weigh as much as a cue's shipped weight."""
RATE_PRIOR = 20.0
"""Questions that the traces need to weigh as much as a row's shipped rate."""
LEAST_SEEN = 10
"""A weight or a rate that fewer questions show stays as it is, exactly."""
_ROUNDS = 100


def fit(directives: Iterable[Directive], candidates: Iterable[Candidate], cues: CueSet) -> CueSet:
    """``cues`` with weights and rates moved as far as the evidence goes."""
    return cues.reweigh(weights(directives, cues)).rate(rates(candidates, cues))


def weights(directives: Iterable[Directive], cues: CueSet) -> dict[str, float]:
    """The weights of the cues that were seen often enough, each in [0, 1]."""
    shipped = {cue.name: cue.weight for cue in cues.cues}
    pairs = _by_question(((each.intent, each.verb), each.question, each.searched) for each in directives)
    seen: defaultdict[str, int] = defaultdict(int)
    for pair, (count, _) in pairs.items():
        for name in pair:
            seen[name] += count
    fitted = {name: shipped[name] for name, count in seen.items() if count >= LEAST_SEEN}
    for _ in range(_ROUNDS):
        fired: defaultdict[str, float] = defaultdict(float)
        for pair, (_, searches) in pairs.items():
            first, second = (fitted.get(name, shipped[name]) for name in pair)
            either = 1 - (1 - first) * (1 - second)
            for name, weight in zip(pair, (first, second), strict=True):
                fired[name] += searches * weight / either if either else 0.0
        fitted = {name: (WEIGHT_PRIOR * shipped[name] + fired[name]) / (WEIGHT_PRIOR + seen[name]) for name in fitted}
    return {name: round(weight, 4) for name, weight in sorted(fitted.items())}


def rates(candidates: Iterable[Candidate], cues: CueSet) -> dict[str, float]:
    """The rates of the rows that were seen often enough, each in [0, 1]; an unlisted row starts from 0."""
    shipped = rates_of(cues)
    rows = _by_question((each.row, each.question, each.right) for each in candidates)
    return {
        row: round((RATE_PRIOR * shipped.get(row, 0.0) + right) / (RATE_PRIOR + count), 4)
        for row, (count, right) in sorted(rows.items())
        if count >= LEAST_SEEN
    }


def _by_question(cases: Iterable[tuple[Kind, str, bool]]) -> dict[Kind, tuple[int, float]]:
    """Of each kind of case: how many questions show it, and the sum over them of the share that came true."""
    seen: defaultdict[Kind, defaultdict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for kind, question, true in cases:
        seen[kind][question].append(true)
    return {
        kind: (len(each), math.fsum(sum(outcomes) / len(outcomes) for outcomes in each.values()))
        for kind, each in seen.items()
    }
