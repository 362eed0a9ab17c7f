"""Prompts of openevals that others have tried, asked of our judges within their limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langsmith import tracing_context

from langgraph_prefetch.evaluation.judging.asked_model import NoVerdictError, StructuredOnly
from langgraph_prefetch.evaluation.judging.judge import Judge
from langgraph_prefetch.evaluation.judging.judging import Judging, check_parts, stopped
from langgraph_prefetch.evaluation.judging.many import each
from langgraph_prefetch.evaluation.judging.openevals_setup import OPENEVALS_VERSION, create_async_llm_as_judge
from langgraph_prefetch.evaluation.judging.own_loop import in_own_loop
from langgraph_prefetch.evaluation.judging.rubric import Part, unjudgeable
from langgraph_prefetch.evaluation.judging.sheets import ScoreSheet
from langgraph_prefetch.evaluation.judging.values import Judged, Reason, Sample, Scored, Unscored, Verdict
from langgraph_prefetch.evaluation.judging.votes import mean_vote


async def ascore_openevals(
    judging: Judging,
    samples: Sequence[Sample],
    prompt: str,
    *,
    name: str,
    needs: Sequence[Part] = (),
) -> ScoreSheet:
    """Score each sample with a prompt of openevals, such as ``openevals.prompts.CORRECTNESS_PROMPT``, by every judge.

    The prompt may name ``{inputs}``, ``{outputs}``, ``{reference_outputs}`` and ``{context}``. The score is continuous,
    from 0 to 1; one outside is malformed. ``name`` stands in the file of verdicts and in tables.

    Raises:
        NothingToJudgeError: no samples.
        MissingPartError: a part in ``needs`` that no sample has.
        VerdictFileError: a reply cannot be kept.
    """
    parts = tuple(needs)
    check_parts(samples, name, parts)
    label = f"openevals/{name}@{OPENEVALS_VERSION}"
    work = [(sample, judge) for sample in samples for judge in judging.judges]

    async def one(asked: tuple[Sample, Judge]) -> Verdict:
        sample, judge = asked
        return unjudgeable(sample, parts) or await _by_prompt(judging, sample, judge, prompt, label)

    verdicts = await each(work, one, 2 * judging.asker.limits.max_concurrency)
    width = len(judging.judges)
    rows = [dict(zip(judging.names, verdicts[at : at + width], strict=True)) for at in range(0, len(verdicts), width)]
    return ScoreSheet(
        metric=label,
        judges=judging.names,
        judged=tuple(
            Judged(sample=sample, verdict=mean_vote(row), by_judge=row)
            for sample, row in zip(samples, rows, strict=True)
        ),
        spent=judging.spent,
        stopped=stopped(verdicts),
    )


def score_openevals(
    judging: Judging, samples: Sequence[Sample], prompt: str, *, name: str, needs: Sequence[Part] = ()
) -> ScoreSheet:
    """As :func:`ascore_openevals`, on a thread and an event loop of its own."""
    return in_own_loop(lambda: ascore_openevals(judging, samples, prompt, name=name, needs=needs))


async def _by_prompt(judging: Judging, sample: Sample, judge: Judge, prompt: str, label: str) -> Verdict:
    model = StructuredOnly(asker=judging.asker, judge=judge.name, prompt=label, subject=sample.name)
    score = create_async_llm_as_judge(prompt=prompt, judge=model, continuous=True)
    given = {"inputs": sample.question, "outputs": sample.answer, "context": "\n\n".join(sample.contexts)}
    try:
        with tracing_context(enabled=False):
            found: Any = await score(**given, reference_outputs=sample.reference or "")
    except NoVerdictError as error:
        return error.unscored
    except KeyError as error:
        return Unscored(reason=Reason.MALFORMED, detail=f"no {error} in the reply")
    value = found["score"]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return Unscored(reason=Reason.MALFORMED, detail=f"{value!r} is no score from 0 to 1")
    return Scored(score=float(value), why=str(found.get("comment") or ""))
