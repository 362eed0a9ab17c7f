"""The metrics of ragas on any LangChain chat model, within our limits: each of its model calls is one of ours.

Budget, concurrency, timeouts, strict reading and the file of verdicts hold for them as for our own judges. A score that
is no number, or that ragas makes up where its model said nothing, is unscored.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from langchain_core.embeddings import Embeddings

from langgraph_prefetch.errors import ConfigurationError, did_you_mean
from langgraph_prefetch.evaluation.judging.asked_model import NoVerdictError
from langgraph_prefetch.evaluation.judging.judge import Judge
from langgraph_prefetch.evaluation.judging.judging import Judging, check_parts, stopped
from langgraph_prefetch.evaluation.judging.many import each
from langgraph_prefetch.evaluation.judging.own_loop import in_own_loop
from langgraph_prefetch.evaluation.judging.ragas_models import (
    AskedEmbedder,
    AskedModel,
    QuestionsOnly,
)
from langgraph_prefetch.evaluation.judging.ragas_setup import (
    RAGAS_VERSION,
    AnswerRelevancy,
    ContextPrecision,
    ContextRecall,
    Faithfulness,
)
from langgraph_prefetch.evaluation.judging.rubric import Part, unjudgeable
from langgraph_prefetch.evaluation.judging.sheets import ScoreSheet
from langgraph_prefetch.evaluation.judging.values import Judged, Reason, Sample, Scored, Unscored, Verdict
from langgraph_prefetch.evaluation.judging.votes import mean_vote

RagasMetric = Literal["faithfulness", "answer_relevancy", "context_precision", "context_recall"]
METRICS: tuple[RagasMetric, ...] = get_args(RagasMetric)
NEEDS: dict[RagasMetric, tuple[Part, ...]] = {
    "faithfulness": ("contexts",),
    "answer_relevancy": (),
    "context_precision": ("contexts", "reference"),
    "context_recall": ("contexts", "reference"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    """One metric of one sample, by one judge."""

    sample: Sample
    judge: Judge


async def ascore_ragas(
    judging: Judging, samples: Sequence[Sample], metric: RagasMetric, *, embeddings: Embeddings | None = None
) -> ScoreSheet:
    """Score each sample by a metric of ragas, with every judge, on the caller's event loop.

    ``answer_relevancy`` needs ``embeddings``; its score is a similarity, and may fall below 0.

    Raises:
        ConfigurationError: no such metric, or embeddings are missing.
        NothingToJudgeError: no samples.
        MissingPartError: the metric needs a part that no sample has.
        VerdictFileError: a reply cannot be kept.
    """
    if metric not in METRICS:
        raise ConfigurationError(
            f"no metric {metric!r} here; there are {', '.join(METRICS)}.{did_you_mean(metric, METRICS)}"
        )
    if metric == "answer_relevancy" and embeddings is None:
        raise ConfigurationError("answer_relevancy compares vectors: pass embeddings=")
    check_parts(samples, metric, NEEDS[metric])
    work = [_Measured(sample=sample, judge=judge) for sample in samples for judge in judging.judges]

    async def measure(one: _Measured) -> Verdict:
        known = unjudgeable(one.sample, NEEDS[metric])
        return known or await _measure(judging, one, metric, embeddings)

    # Twice as wide as the calls: while one sample waits for its turn to call, another reads what came.
    verdicts = await each(work, measure, 2 * judging.asker.limits.max_concurrency)
    by_sample = [verdicts[at : at + len(judging.judges)] for at in range(0, len(verdicts), len(judging.judges))]
    judged = tuple(
        Judged(sample=sample, verdict=mean_vote(by_judge), by_judge=by_judge)
        for sample, by_judge in zip(
            samples, (dict(zip(judging.names, row, strict=True)) for row in by_sample), strict=True
        )
    )
    return ScoreSheet(
        metric=f"ragas/{metric}@{RAGAS_VERSION}",
        judges=judging.names,
        judged=judged,
        spent=judging.spent,
        stopped=stopped(verdicts),
    )


def score_ragas(
    judging: Judging, samples: Sequence[Sample], metric: RagasMetric, *, embeddings: Embeddings | None = None
) -> ScoreSheet:
    """As :func:`ascore_ragas`, on a thread and an event loop of its own."""
    return in_own_loop(lambda: ascore_ragas(judging, samples, metric, embeddings=embeddings))


async def _measure(judging: Judging, one: _Measured, metric: RagasMetric, embeddings: Embeddings | None) -> Verdict:
    model = AskedModel(judging.asker, one.judge.name, metric, one.sample.name)
    try:
        score = float((await _call(metric, model, one.sample, embeddings)()).value)
    except NoVerdictError as error:
        return error.unscored
    except ValueError as error:  # of ragas, about a sample it cannot take
        return Unscored(reason=Reason.NOT_A_NUMBER, detail=str(error)[:200])
    if not math.isfinite(score):
        return Unscored(reason=Reason.NOT_A_NUMBER, detail=f"ragas found nothing to score in {metric}")
    if not (-1.0 if metric == "answer_relevancy" else 0.0) - 1e-6 <= score <= 1.0 + 1e-6:
        return Unscored(reason=Reason.NOT_A_NUMBER, detail=f"{score:g} is outside the scale of {metric}")
    return Scored(score=min(score, 1.0))


def _call(
    metric: RagasMetric, model: AskedModel, sample: Sample, embeddings: Embeddings | None
) -> Callable[[], Awaitable[Any]]:
    asked, contexts = {"user_input": sample.question}, {"retrieved_contexts": list(sample.contexts)}
    if metric == "faithfulness":
        return lambda: Faithfulness(llm=model).ascore(**asked, response=sample.answer, **contexts)
    if metric == "answer_relevancy":
        assert embeddings is not None
        metric_of = AnswerRelevancy(llm=QuestionsOnly(model), embeddings=AskedEmbedder(embeddings))
        return lambda: metric_of.ascore(**asked, response=sample.answer)
    known = {"reference": sample.reference or ""}
    if metric == "context_precision":
        return lambda: ContextPrecision(llm=model).ascore(**asked, **known, **contexts)
    return lambda: ContextRecall(llm=model).ascore(**asked, **known, **contexts)
