"""Scoring one answer by a rubric: what is asked, and what a reply means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from langgraph_prefetch.evaluation.judging.prompts import Prompt, RubricReply, rubric_system
from langgraph_prefetch.evaluation.judging.values import Reason, Sample, Scored, Unscored

Part = Literal["reference", "contexts"]
WORST, BEST = 1, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """What makes an answer good.

    Attributes:
        name, version: change the version whenever the criteria change.
        criteria: in plain prose, with what each score from 1 to 5 stands for.
        needs: parts of a sample without which the rubric means nothing; a sample that lacks one is unscored.
        shows: parts the judge gets to see where a sample has them.
    """

    name: str
    version: str
    criteria: str
    needs: tuple[Part, ...] = ()
    shows: tuple[Part, ...] = ("reference", "contexts")

    @property
    def prompt(self) -> Prompt:
        """What the judge is told."""
        return Prompt(name=self.name, version=self.version, system=rubric_system(self.criteria), reply=RubricReply)


ANSWER = Rubric(
    name="answer",
    version="1",
    criteria=(
        "5: answers the question in full; every claim is correct, as far as the reference and the contexts tell.\n"
        "4: answers it, with a minor gap or imprecision.\n"
        "3: answers it in part.\n"
        "2: mostly misses the question, or holds a claim that the reference or the contexts contradict.\n"
        "1: does not answer it, is wrong, or declines although the contexts hold the answer."
    ),
)
"""Whether the answer is good, seen with the contexts and the reference where there are any."""

GROUNDED = Rubric(
    name="grounded",
    version="1",
    criteria=(
        "Only support counts, not whether the claims are true in the world.\n"
        "5: every claim of the answer stands in the contexts or follows from them.\n"
        "4: all but a side remark.\n"
        "3: about half of the claims.\n"
        "2: few of them.\n"
        "1: none, or the contexts contradict the answer."
    ),
    needs=("contexts",),
    shows=("contexts",),
)
"""Whether the contexts support the answer."""

CORRECT = Rubric(
    name="correct",
    version="1",
    criteria=(
        "The reference is right and complete.\n"
        "5: the answer says what the reference says.\n"
        "4: it does, with a minor gap or imprecision.\n"
        "3: it says about half of it, and nothing against it.\n"
        "2: it says little of it.\n"
        "1: it says none of it, or contradicts it."
    ),
    needs=("reference",),
    shows=("reference",),
)
"""Whether the answer agrees with the reference."""

RUBRICS: Mapping[str, Rubric] = {each.name: each for each in (ANSWER, GROUNDED, CORRECT)}


def unjudgeable(sample: Sample, needs: tuple[Part, ...] = ()) -> Unscored | None:
    """Why no judge needs to be asked about a sample; None if one may be."""
    if sample.error is not None:
        return Unscored(reason=Reason.RUN_FAILED, detail=sample.error)
    if not sample.answer.strip():
        return Unscored(reason=Reason.EMPTY_ANSWER)
    if "reference" in needs and not (sample.reference or "").strip():
        return Unscored(reason=Reason.NO_REFERENCE)
    if "contexts" in needs and not any(context.strip() for context in sample.contexts):
        return Unscored(reason=Reason.NO_CONTEXTS)
    return None


def rubric_data(rubric: Rubric, sample: Sample) -> dict[str, Any]:
    """What the judge sees of a sample; not who answered."""
    data: dict[str, Any] = {"question": sample.question, "answer": sample.answer}
    return data | shown(sample, rubric.shows)


def shown(sample: Sample, parts: tuple[Part, ...]) -> dict[str, Any]:
    """Those of ``parts`` that a sample has."""
    data: dict[str, Any] = {}
    if "reference" in parts and sample.reference is not None:
        data["reference"] = sample.reference
    if "contexts" in parts and sample.contexts:
        data["contexts"] = list(sample.contexts)
    return data


def rubric_score(reply: RubricReply) -> Scored:
    """1 to 5 becomes 0 to 1, in steps of a quarter."""
    return Scored(score=(reply.score - WORST) / (BEST - WORST), why=reply.reasoning)
