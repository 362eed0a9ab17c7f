"""What the judges of the suite ``quality`` are asked, in which order, and the controls that show what they can see."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from langgraph_prefetch.errors import NothingToJudgeError
from langgraph_prefetch.evaluation.judging import (
    Judge,
    Judging,
    PairSheet,
    Rubric,
    Sample,
    ScoreSheet,
    judging_themselves,
)
from langgraph_prefetch.evaluation.judging.judging import check_parts
from langgraph_prefetch.evaluation.judging.rubric import GROUNDED, RUBRICS
from langgraph_prefetch.suites.agents import BARE, WRAPPED
from langgraph_prefetch.suites.contract import SuiteContext
from langgraph_prefetch.suites.quality_measures import ControlFound, control_of_pairs, control_of_scores
from langgraph_prefetch.suites.quality_report import Findings
from langgraph_prefetch.suites.quality_samples import (
    CORRUPTED,
    one_each,
    pairs_of,
    with_others_answers,
    with_others_contexts,
)
from langgraph_prefetch.suites.quality_settings import JudgingSettings


def check_samples(samples: Sequence[Sample], settings: JudgingSettings) -> None:
    """Nothing, if there is something to judge and no rubric or metric lacks what it needs; before anything is paid.

    Raises:
        NothingToJudgeError: rows without the two arms.
        MissingPartError: a part that no sample has.
        MissingExtraError: ragas is asked for, and is not there.
    """
    arms = {sample.arm for sample in samples}
    if arms != {BARE, WRAPPED}:
        raise NothingToJudgeError(
            f"judging needs answers of the arms {BARE} and {WRAPPED}; there are {', '.join(sorted(arms)) or 'none'}"
        )
    for name in settings.rubrics:
        check_parts(samples, name, RUBRICS[name].needs)
    if settings.ragas:
        from langgraph_prefetch.evaluation.judging.ragas_metrics import METRICS, NEEDS

        for metric in METRICS:
            if metric in settings.ragas:
                check_parts(samples, metric, NEEDS[metric])


async def judged(
    context: SuiteContext, settings: JudgingSettings, judges: Sequence[Judge], samples: Sequence[Sample]
) -> Findings:
    """Ask the judges in the order in which it matters: where a budget ends, what matters most has been asked."""
    limits, path = settings.limits(context.budget), context.out / "verdicts.jsonl"
    judging = await asyncio.to_thread(Judging, judges, limits=limits, verdicts=path)
    base = one_each(samples, BARE, settings.controls, context.seed)
    scores: list[ScoreSheet] = [await _scored(context, judging, samples, settings.primary)]
    controls = [await _answers_control(judging, settings, base)] if base else []
    compared: list[PairSheet] = []
    if settings.pairwise:
        context.say("comparing bare and wrapped answers in both orders")
        compared.append(await judging.acompare(pairs_of(samples, BARE, WRAPPED)))
        corrupted = with_others_answers(base)
        if corrupted:
            compared.append(await judging.acompare(corrupted))
            controls.append(control_of_pairs("answers of other questions, compared", compared[-1], settings.alpha))
    scores += [await _scored(context, judging, samples, RUBRICS[name]) for name in settings.rubrics[1:]]
    contexts = await _contexts_control(judging, settings, base) if GROUNDED.name in settings.rubrics else None
    controls += [contexts] if contexts is not None else []
    scores += await _by_ragas(context, judging, settings, samples)
    return Findings(
        scores=tuple(scores),
        pairs=compared[0] if compared else None,
        asked_in_both_orders=tuple(compared),
        controls=tuple(controls),
        judges=judging.names,
        themselves=judging_themselves(judging.names, context.model),
        spent=judging.spent,
        unpriced=tuple(each.name for each in judges if each.price is None),
        broken_lines=judging.store.broken,
    )


async def _scored(context: SuiteContext, judging: Judging, samples: Sequence[Sample], rubric: Rubric) -> ScoreSheet:
    context.say(f"scoring {len(samples)} answers by {rubric.prompt.label}, judges: {', '.join(judging.names)}")
    return await judging.ascore(samples, rubric)


async def _answers_control(judging: Judging, settings: JudgingSettings, base: Sequence[Sample]) -> ControlFound:
    corrupted = with_others_answers(base)
    both = [sample for pair in corrupted for sample in pair] or list(base)
    sheet = await judging.ascore(both, settings.primary)
    return control_of_scores("answers of other questions", sheet, BARE, CORRUPTED, settings.margin, settings.alpha)


async def _contexts_control(judging: Judging, settings: JudgingSettings, base: Sequence[Sample]) -> ControlFound | None:
    both = [sample for pair in with_others_contexts(base) for sample in pair]
    if not both:
        return None
    sheet = await judging.ascore(both, GROUNDED)
    return control_of_scores("contexts of other questions", sheet, BARE, CORRUPTED, settings.margin, settings.alpha)


async def _by_ragas(
    context: SuiteContext, judging: Judging, settings: JudgingSettings, samples: Sequence[Sample]
) -> list[ScoreSheet]:
    if not settings.ragas:
        return []
    from langgraph_prefetch.evaluation.judging.ragas_metrics import METRICS, ascore_ragas
    from langgraph_prefetch.retrieval.embedders.choose import embedder

    embeddings = await asyncio.to_thread(embedder, settings.embeddings)
    found = []
    for metric in METRICS:
        if metric in settings.ragas:
            context.say(f"scoring by ragas: {metric}")
            found.append(await ascore_ragas(judging, samples, metric, embeddings=embeddings))
    return found
