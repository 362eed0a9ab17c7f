"""The figures of one question, or of many together, and their JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langgraph_prefetch.demo.trial import Trial

_SUMMED = (
    *("search_calls", "served_reasoning", "served_sealed", "misses", "speculations", "served_speculations"),
    *("false_starts", "troubles"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What was measured, summed over one or more questions. Seconds are wall-clock seconds.

    Attributes:
        bare_seconds, wrapped_seconds: from the question to the last token of the answer.
        hidden_seconds: retrieval time that the agent did not wait for.
        hideable_seconds: retrieval time after the query was readable and before it was asked for, call by call.
        allowed_seconds: the same, step by step, of which the slowest call counts: what could be saved end to end.
        search_calls, served_reasoning, served_sealed, misses: as in a report, and so are ``speculations``,
            ``served_speculations``, ``false_starts`` and ``troubles``.
        questions, same_answers, same_passages: how many, and in how many both agents said and read the same.
        checked, wrong: searches made again afterwards, and those whose text was another.
    """

    bare_seconds: float
    wrapped_seconds: float
    hidden_seconds: float
    hideable_seconds: float
    allowed_seconds: float
    search_calls: int
    served_reasoning: int
    served_sealed: int
    misses: int
    speculations: int
    served_speculations: int
    false_starts: int
    troubles: int
    questions: int
    same_answers: int
    same_passages: int
    checked: int
    wrong: int

    @classmethod
    def of(cls, trials: Sequence[Trial]) -> Figures:
        """The sum of some trials."""
        counted = {name: sum(getattr(each.report, name) for each in trials) for name in _SUMMED}
        return cls(
            bare_seconds=sum(each.bare.seconds for each in trials),
            wrapped_seconds=sum(each.wrapped.seconds for each in trials),
            hidden_seconds=sum(each.report.hidden_seconds for each in trials),
            hideable_seconds=sum(each.report.hideable_seconds for each in trials),
            allowed_seconds=sum(each.saving.allowed for each in trials),
            questions=len(trials),
            same_answers=sum(each.same_answer for each in trials),
            same_passages=sum(each.same_passages for each in trials),
            checked=sum(each.checked for each in trials),
            wrong=sum(each.wrong for each in trials),
            **counted,
        )

    @property
    def saved_seconds(self) -> float:
        """Bare minus wrapped."""
        return self.bare_seconds - self.wrapped_seconds

    @property
    def served(self) -> int:
        """Search calls answered by a speculation."""
        return self.served_reasoning + self.served_sealed

    @property
    def coverage(self) -> float | None:
        """Served / search calls; None without any."""
        return self.served / self.search_calls if self.search_calls else None

    @property
    def accuracy(self) -> float | None:
        """Speculations served / started; None without any."""
        return self.served_speculations / self.speculations if self.speculations else None

    @property
    def amplification(self) -> float | None:
        """Backend starts with prefetch / without; None without a search call."""
        return (self.speculations + self.misses) / self.search_calls if self.search_calls else None

    @property
    def equal(self) -> bool:
        """Every answer and every passage was the same in both agents."""
        return self.same_answers == self.same_passages == self.questions and not self.wrong

    def as_json(self) -> dict[str, Any]:
        """All of it, seconds and shares rounded to 4 places."""
        derived = {
            name: getattr(self, name) for name in ("saved_seconds", "served", "coverage", "accuracy", "amplification")
        }
        return {
            name: round(value, 4) if isinstance(value, float) else value
            for name, value in {**dataclasses.asdict(self), **derived}.items()
        }
