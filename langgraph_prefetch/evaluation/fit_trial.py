"""Fitting that checks itself: cross-validated by question, refused where traces are too few or teach nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph_prefetch.errors import ConfigurationError, FitError
from langgraph_prefetch.evaluation.fit import fit
from langgraph_prefetch.evaluation.fit_reading import Candidate, Directive, Spoken, candidates, directives, spoken
from langgraph_prefetch.evaluation.fit_scores import Scores, Tally, scores, tally
from langgraph_prefetch.evaluation.traces import Episode
from langgraph_prefetch.intent.cues import CueSet

MIN_QUESTIONS = 50
MIN_SEARCHES = 100
MIN_CANDIDATES = 100
"""Fewer than these are not fitted: a row would be judged by a handful of cases."""
FOLDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """Cues fitted to all traces, and how cues fitted to a part of them did on the rest.

    Attributes:
        cues: the fitted set.
        questions, searches, candidates: what there was to learn from.
        before, after: the given cues and the fitted ones, on questions that they were not fitted to.
        weights, rates: how many of them moved.
    """

    cues: CueSet
    questions: int
    searches: int
    candidates: int
    before: Scores
    after: Scores
    weights: int
    rates: int

    def as_json(self) -> dict[str, Any]:
        """For the file of cues."""
        return {
            "questions": self.questions,
            "search_calls": self.searches,
            "candidates": self.candidates,
            "folds": FOLDS,
            "before": self.before.as_json(),
            "after": self.after.as_json(),
        }


def fit_traces(
    episodes: Sequence[Episode],
    tools: Collection[str],
    cues: CueSet,
    *,
    on_part: Callable[[], None] = lambda: None,
) -> Fitted:
    """Fit ``cues`` to recorded episodes.

    Args:
        episodes: the recordings.
        tools: the recorded actions that are search calls.
        cues: where to start, and what to be drawn towards.
        on_part: called after each of `FOLDS` + 1 parts of the work.

    Raises:
        FitError: too little to learn from, or what was learned from one part of it is no better on the rest.
        ConfigurationError: no tool is named.
    """
    if not tools:
        raise ConfigurationError("name at least one tool")
    runs = list(spoken(episodes, tools, episodes))
    evidence = [_evidence(run, cues) for run in runs]
    on_part()
    folds = [_fold(run) for run in runs]
    questions = len({run[0].group for run in runs})
    searches = sum(step.query is not None for run in runs for step in run)
    found = sum(len(each) for _, each in evidence)
    _require(
        questions=(questions, MIN_QUESTIONS), search_calls=(searches, MIN_SEARCHES), candidates=(found, MIN_CANDIDATES)
    )
    before, ranked, weighed = Tally(), Tally(), Tally()
    for fold in range(FOLDS):
        own = [run for run, where in zip(runs, folds, strict=True) if where == fold]
        theirs = [each for (_, made), where in zip(evidence, folds, strict=True) if where == fold for each in made]
        others = [each for each, where in zip(evidence, folds, strict=True) if where != fold]
        before += tally(own, theirs, cues)
        ranked += tally(own, theirs, _fitted(others, cues, weights=False))
        weighed += tally(own, theirs, _fitted(others, cues, weights=True))
        on_part()
    # Rates are judged by calibration; weights by what is guessed, and where that gets no better they stay.
    move_weights = _better(scores(weighed), scores(ranked))
    fitted = _fitted(evidence, cues, weights=move_weights)
    after = weighed if move_weights else ranked
    result = Fitted(
        cues=fitted,
        questions=questions,
        searches=searches,
        candidates=found,
        before=scores(before),
        after=scores(after),
        weights=sum(old != new for old, new in zip(cues.cues, fitted.cues, strict=True)),
        rates=len(set(fitted.rates) - set(cues.rates)),
    )
    if not (result.after.brier < result.before.brier and result.after.log_loss < result.before.log_loss):
        raise FitError(
            "cues fitted to a part of these traces are no better on the rest "
            f"(Brier score {result.before.brier:.4f} before, {result.after.brier:.4f} after; log loss "
            f"{result.before.log_loss:.4f} before, {result.after.log_loss:.4f} after): keep those you have"
        )
    return result


def _better(new: Scores, old: Scores) -> bool:
    """More is found, and not at the price of more waste."""
    return new.f1 > old.f1 and new.precision >= old.precision


def _require(**counts: tuple[int, int]) -> None:
    short = [
        f"{name.replace('_', ' ')}: {have}, at least {need}" for name, (have, need) in counts.items() if have < need
    ]
    if short:
        raise FitError(f"too little to fit to without overfitting ({'; '.join(short)}): record more runs")


def _evidence(run: Sequence[Spoken], cues: CueSet) -> tuple[list[Directive], list[Candidate]]:
    return (
        [each for step in run for each in directives(step, cues)],
        [each for step in run for each in candidates(step, cues)],
    )


def _fitted(evidence: Sequence[tuple[list[Directive], list[Candidate]]], cues: CueSet, *, weights: bool) -> CueSet:
    said = (each for said, _ in evidence for each in said) if weights else ()
    return fit(said, (each for _, made in evidence for each in made), cues)


def _fold(run: Sequence[Spoken]) -> int:
    """Runs of one question stay together. The same on every machine."""
    return int.from_bytes(hashlib.sha256(run[0].group.encode()).digest()[:4], "big") % FOLDS
