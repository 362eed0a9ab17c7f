"""What openevals and agentevals do well without a model: texts compared, and trajectories matched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.messages import BaseMessage
from langsmith import tracing_context

from langgraph_prefetch.errors import NothingToJudgeError
from langgraph_prefetch.evaluation.judging.judging import check_parts
from langgraph_prefetch.evaluation.judging.openevals_setup import (
    AGENTEVALS_VERSION,
    OPENEVALS_VERSION,
    create_trajectory_match_evaluator,
    exact_match,
    levenshtein_distance,
)
from langgraph_prefetch.evaluation.judging.rubric import unjudgeable
from langgraph_prefetch.evaluation.judging.sheets import ScoreSheet
from langgraph_prefetch.evaluation.judging.spending import Spent
from langgraph_prefetch.evaluation.judging.values import Judged, Reason, Sample, Scored, Unscored, Verdict

TextMetric = Literal["exact_match", "levenshtein"]
MatchMode = Literal["strict", "unordered", "subset", "superset"]
MAX_CHARS = 3_000
"""Of a text whose edit distance is taken: time grows with the product of both lengths."""
_TEXT: Mapping[str, Callable[..., Any]] = {"exact_match": exact_match, "levenshtein": levenshtein_distance}


def compare_texts(samples: Sequence[Sample], metric: TextMetric) -> ScoreSheet:
    """Each answer against its reference, without a model.

    ``exact_match`` is 1 or 0; ``levenshtein`` is 1 less the edit distance over the longer length, from 0 to 1.

    Raises:
        NothingToJudgeError: no samples.
        MissingPartError: no sample has a reference.
    """
    check_parts(samples, metric, ("reference",))

    def verdict(sample: Sample) -> Verdict:
        known = unjudgeable(sample, ("reference",))
        if known is not None:
            return known
        assert sample.reference is not None
        if metric == "levenshtein" and max(len(sample.answer), len(sample.reference)) > MAX_CHARS:
            return Unscored(reason=Reason.TOO_LONG, detail=f"more than {MAX_CHARS:,} characters")
        with tracing_context(enabled=False):
            return Scored(
                score=float(_TEXT[metric](outputs=sample.answer, reference_outputs=sample.reference)["score"])
            )

    return _without_judges(f"openevals/{metric}@{OPENEVALS_VERSION}", [(each, verdict(each)) for each in samples])


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """The messages of a run, and those of the run it is held against.

    Attributes:
        sample: the run, as tables name it.
        messages, expected: LangChain messages, or OpenAI's as dictionaries.
    """

    sample: Sample
    messages: Sequence[BaseMessage | Mapping[str, Any]]
    expected: Sequence[BaseMessage | Mapping[str, Any]]


def match_trajectories(
    runs: Sequence[Trajectory], mode: MatchMode = "strict", *, arguments: Literal["exact", "ignore"] = "exact"
) -> ScoreSheet:
    """Whether each run made the tool calls of the run it is held against: 1 or 0, without a model.

    ``strict`` compares them in order; the other modes of agentevals compare sets.

    Raises:
        NothingToJudgeError: no runs.
    """
    if not runs:
        raise NothingToJudgeError("there are no trajectories to match")
    match = create_trajectory_match_evaluator(trajectory_match_mode=mode, tool_args_match_mode=arguments)

    def verdict(run: Trajectory) -> Verdict:
        if run.sample.error is not None:
            return Unscored(reason=Reason.RUN_FAILED, detail=run.sample.error)
        with tracing_context(enabled=False):
            found = match(outputs=list(run.messages), reference_outputs=list(run.expected))
        return Scored(score=float(found["score"]))

    name = f"agentevals/trajectory-{mode}@{AGENTEVALS_VERSION}"
    return _without_judges(name, [(run.sample, verdict(run)) for run in runs])


def _without_judges(metric: str, verdicts: Sequence[tuple[Sample, Verdict]]) -> ScoreSheet:
    judged = tuple(Judged(sample=sample, verdict=verdict, by_judge={}) for sample, verdict in verdicts)
    return ScoreSheet(metric=metric, judges=(), judged=judged, spent=Spent())
