"""What is judged, and what came of it: a score, or the reason why there is none; never a number that stands in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One answer to one question, as a judge gets to see it.

    Attributes:
        question_id: pairs of arms share it, and ``run``.
        question, answer: texts in any language.
        arm: who answered, such as ``bare``; no judge is told.
        run: which of several runs of the question; empty if there is one.
        reference: the expected answer, where the data have one.
        contexts: the passages that the answer was made from, in order.
        language, kind: of the question, for tables.
        error: why there is no answer; such a sample is unscored for that reason, and costs no call.
    """

    question_id: str
    question: str
    answer: str
    arm: str = ""
    run: str = ""
    reference: str | None = None
    contexts: tuple[str, ...] = ()
    language: str = ""
    kind: str = ""
    error: str | None = None

    @property
    def name(self) -> str:
        """How tables and transcripts name it, such as ``q7/wrapped``."""
        return "/".join(part for part in (self.question_id, self.arm, self.run) if part)


class Reason(StrEnum):
    """Why there is no score."""

    RUN_FAILED = "run failed"
    EMPTY_ANSWER = "empty answer"
    NO_REFERENCE = "no reference"
    NO_CONTEXTS = "no contexts"
    NO_PARTNER = "no partner"
    TOO_LONG = "text too long"
    MALFORMED = "malformed reply"
    VERBOSE = "reply too long"
    REFUSED = "judge refused"
    FAILED = "judge failed"
    TIMED_OUT = "judge timed out"
    GAVE_UP = "judge given up"
    OUT_OF_BUDGET = "out of budget"
    NOT_A_NUMBER = "not a number"
    NO_QUORUM = "too few judges"


NO_REPLY = frozenset({Reason.FAILED, Reason.TIMED_OUT, Reason.GAVE_UP, Reason.OUT_OF_BUDGET})
"""Nothing came back: a resumed run asks again. Whatever did come back was paid for, and is not asked twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A judge's score.

    Attributes:
        score: finite; 0 is worst, 1 is best (a similarity may fall below 0).
        why: the judge's own words.
    """

    score: float
    why: str = ""

    def __post_init__(self) -> None:
        if not math.isfinite(self.score):
            raise ValueError(f"a score is finite, not {self.score!r}: what is not a number is Unscored")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unscored:
    """No score, for a reason; ``detail`` says more, such as the kind of an exception."""

    reason: Reason
    detail: str = ""


Verdict = Scored | Unscored

Preference = Literal["first", "second", "tie"]
"""Of a pair of arms, not of the place in which a judge was shown them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A pair that was judged.

    Attributes:
        winner: of the two arms. Where the two orders disagree it is a tie.
        agreed: both orders named the same arm, or both a tie.
        identical: the answers are the same text, so that no judge was asked.
        placed: of the replies that named a winner, how often the one shown first won, and their number.
        why: the judge's words, one of each order.
    """

    winner: Preference
    agreed: bool = True
    identical: bool = False
    placed: tuple[int, int] = (0, 0)
    why: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        """0 where the first arm won, 1 where the second did, 0.5 for a tie."""
        return {"first": 0.0, "tie": 0.5, "second": 1.0}[self.winner]


PairVerdict = Compared | Unscored


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A sample with each judge's verdict and what they came to together."""

    sample: Sample
    verdict: Verdict
    by_judge: Mapping[str, Verdict]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPair:
    """A pair of samples of one question with each judge's verdict and what they came to together."""

    first: Sample
    second: Sample
    verdict: PairVerdict
    by_judge: Mapping[str, PairVerdict]
