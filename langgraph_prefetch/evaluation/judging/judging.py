"""Judges at work: samples and pairs in, sheets of verdicts out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from langgraph_prefetch.errors import ConfigurationError, MissingPartError, NothingToJudgeError
from langgraph_prefetch.evaluation.judging.asking import Asker
from langgraph_prefetch.evaluation.judging.judge import Judge, JudgeLimits, checked
from langgraph_prefetch.evaluation.judging.own_loop import in_own_loop
from langgraph_prefetch.evaluation.judging.pairwise import combined, pair_data, settled
from langgraph_prefetch.evaluation.judging.prompts import PAIRWISE, PairReply, Prompt, RubricReply
from langgraph_prefetch.evaluation.judging.replies import Answer, Ask
from langgraph_prefetch.evaluation.judging.rubric import ANSWER, Part, Rubric, rubric_data, rubric_score, unjudgeable
from langgraph_prefetch.evaluation.judging.sheets import PairSheet, ScoreSheet
from langgraph_prefetch.evaluation.judging.spending import JudgePlan, Spent
from langgraph_prefetch.evaluation.judging.store import VerdictStore
from langgraph_prefetch.evaluation.judging.values import (
    Judged,
    JudgedPair,
    PairVerdict,
    Reason,
    Sample,
    Unscored,
    Verdict,
)
from langgraph_prefetch.evaluation.judging.votes import majority_vote, mean_vote

Pair = tuple[Sample, Sample]
ReplyT = TypeVar("ReplyT", bound=BaseModel)


class Judging:
    """A panel of judges with its limits and the file of its verdicts.

    Every judge judges everything; scores are averaged, preferences put to the vote. The budget is for all that one
    ``Judging`` does. Not for two calls at a time.

    Args:
        judges: one or more.
        limits: concurrency, timeouts, budget.
        verdicts: a file that keeps what judges reply, whole transcripts included; what stands in it is not asked again.

    Raises:
        NoJudgeError: no judge.
        ConfigurationError: judges that share a name, or a budget in money for a judge without a price.
        VerdictFileError: the file cannot be read.
    """

    def __init__(
        self,
        judges: Sequence[Judge],
        *,
        limits: JudgeLimits = JudgeLimits(),  # noqa: B008  frozen
        verdicts: str | Path | None = None,
    ) -> None:
        self.judges = checked(judges, limits.budget)
        self.store = VerdictStore(verdicts)
        self.asker = Asker(self.judges, limits, self.store)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the judges."""
        return tuple(judge.name for judge in self.judges)

    @property
    def spent(self) -> Spent:
        """So far."""
        return self.asker.ledger.spent

    async def ascore(self, samples: Sequence[Sample], rubric: Rubric = ANSWER) -> ScoreSheet:
        """Score each sample by a rubric, on the caller's event loop.

        Raises:
            NothingToJudgeError: no samples.
            MissingPartError: the rubric needs a part that no sample has.
            JudgeModelError: a judge has no structured output.
            VerdictFileError: a verdict cannot be kept.
        """
        answers = await self.asker.all(self._score_asks(samples, rubric))
        judged = tuple(self._judged(sample, rubric, answers) for sample in samples)
        return ScoreSheet(
            metric=rubric.prompt.label,
            judges=self.names,
            judged=judged,
            spent=self.spent,
            stopped=stopped([verdict for each in judged for verdict in each.by_judge.values()]),
        )

    def score(self, samples: Sequence[Sample], rubric: Rubric = ANSWER) -> ScoreSheet:
        """As :meth:`ascore`, on a thread and an event loop of its own: from a notebook as well, and again and again."""
        return in_own_loop(lambda: self.ascore(samples, rubric))

    async def acompare(self, pairs: Sequence[Pair]) -> PairSheet:
        """Compare the answers of each pair, blind and in both orders, on the caller's event loop.

        Raises:
            NothingToJudgeError: no pairs.
            ConfigurationError: a pair of two questions.
            JudgeModelError: a judge has no structured output.
            VerdictFileError: a verdict cannot be kept.
        """
        answers = await self.asker.all(self._pair_asks(pairs))
        judged = tuple(self._judged_pair(pair, answers) for pair in pairs)
        return PairSheet(
            judges=self.names,
            pairs=judged,
            spent=self.spent,
            stopped=stopped([verdict for each in judged for verdict in each.by_judge.values()]),
        )

    def compare(self, pairs: Sequence[Pair]) -> PairSheet:
        """As :meth:`acompare`, on a thread and an event loop of its own."""
        return in_own_loop(lambda: self.acompare(pairs))

    def plan(
        self, samples: Sequence[Sample] = (), rubrics: Sequence[Rubric] = (ANSWER,), pairs: Sequence[Pair] = ()
    ) -> JudgePlan:
        """What scoring ``samples`` by ``rubrics`` and comparing ``pairs`` would take. Nothing is called.

        Raises:
            NothingToJudgeError: neither samples nor pairs.
            MissingPartError: a rubric needs a part that no sample has.
        """
        asks = [ask for rubric in rubrics if samples or not pairs for ask in self._score_asks(samples, rubric)]
        if pairs:
            asks += self._pair_asks(pairs)
        return self.asker.plan(asks)

    def _score_asks(self, samples: Sequence[Sample], rubric: Rubric) -> list[Ask]:
        check_parts(samples, rubric.name, rubric.needs)
        return [
            ask_of(judge, rubric.prompt, sample.name, rubric_data(rubric, sample))
            for sample in samples
            if unjudgeable(sample, rubric.needs) is None
            for judge in self.judges
        ]

    def _judged(self, sample: Sample, rubric: Rubric, answers: Mapping[str, Answer]) -> Judged:
        by_judge: dict[str, Verdict] = {}
        for judge in self.judges:
            known = unjudgeable(sample, rubric.needs)
            if known is None:
                ask = ask_of(judge, rubric.prompt, sample.name, rubric_data(rubric, sample))
                reply = valid(answers[ask.key], RubricReply)
                by_judge[judge.name] = reply if isinstance(reply, Unscored) else rubric_score(reply)
            else:
                by_judge[judge.name] = known
        return Judged(sample=sample, verdict=mean_vote(by_judge), by_judge=by_judge)

    def _pair_asks(self, pairs: Sequence[Pair]) -> list[Ask]:
        if not pairs:
            raise NothingToJudgeError("there are no pairs to compare")
        for first, second in pairs:
            if first.question_id != second.question_id:
                raise ConfigurationError(f"a pair is of one question, not of {first.name} and {second.name}")
        open_pairs = [pair for pair in pairs if settled(*pair) is None]
        return [ask for pair in open_pairs for judge in self.judges for ask in _both_orders(judge, *pair)]

    def _judged_pair(self, pair: Pair, answers: Mapping[str, Answer]) -> JudgedPair:
        first, second = pair
        by_judge: dict[str, PairVerdict] = {}
        for judge in self.judges:
            known = settled(first, second)
            if known is None:
                as_is, swapped = (valid(answers[ask.key], PairReply) for ask in _both_orders(judge, first, second))
                known = combined(as_is, swapped)
            by_judge[judge.name] = known
        return JudgedPair(first=first, second=second, verdict=majority_vote(by_judge), by_judge=by_judge)


def check_parts(samples: Sequence[Sample], metric: str, needs: Sequence[Part]) -> None:
    """Nothing, if there are samples, and some that have each part that is needed.

    Raises:
        NothingToJudgeError: no samples.
        MissingPartError: none has it.
    """
    if not samples:
        raise NothingToJudgeError("there are no samples to judge")
    if "reference" in needs and not any((sample.reference or "").strip() for sample in samples):
        raise MissingPartError(metric, "references", len(samples))
    if "contexts" in needs and not any(context.strip() for sample in samples for context in sample.contexts):
        raise MissingPartError(metric, "contexts", len(samples))


def ask_of(judge: Judge, prompt: Prompt, subject: str, data: Mapping[str, object]) -> Ask:
    """What is asked of a judge by one of our prompts."""
    return Ask(
        judge=judge.name,
        prompt=prompt.label,
        prompt_digest=prompt.digest,
        subject=subject,
        messages=prompt.messages(data),
        schema=prompt.schema,
    )


def valid(answer: Answer, reply: type[ReplyT]) -> ReplyT | Unscored:
    """The reply as it was asked for, or why it is none. A value of another type, or a field too many, is malformed."""
    if answer.payload is None:
        return Unscored(reason=answer.reason or Reason.MALFORMED, detail=answer.detail)
    try:
        return reply.model_validate(answer.payload)
    except ValidationError as error:
        said = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:3])
        return Unscored(reason=Reason.MALFORMED, detail=said)


def stopped(verdicts: Sequence[Verdict | PairVerdict]) -> str | None:
    """Why judges were not asked everything, in words; None if they were."""
    reasons = [verdict.reason for verdict in verdicts if isinstance(verdict, Unscored)]
    unasked = [f"{reasons.count(r)} not asked: {r}" for r in (Reason.OUT_OF_BUDGET, Reason.GAVE_UP) if r in reasons]
    return "; ".join(unasked) or None


def _both_orders(judge: Judge, first: Sample, second: Sample) -> tuple[Ask, Ask]:
    subject = f"{first.name} and {second.name}"
    return (
        ask_of(judge, PAIRWISE, subject, pair_data(first, second)),
        ask_of(judge, PAIRWISE, subject, pair_data(second, first)),
    )
