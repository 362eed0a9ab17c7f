"""What the suite ``quality`` judges and by which rules, as its file says under ``[judging]`` before the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.errors import ConfigurationError, did_you_mean
from langgraph_prefetch.evaluation.judging import JudgeLimits, Rubric
from langgraph_prefetch.evaluation.judging.rubric import RUBRICS
from langgraph_prefetch.evaluation.judging.spending import JudgeBudget
from langgraph_prefetch.suites.contract import Spending

RAGAS_METRICS = ("faithfulness", "answer_relevancy", "context_precision", "context_recall")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingSettings:
    """Rules of judging.

    Attributes:
        margin: by how much a mean score (0 to 1) may be lower without mattering.
        alpha: of each one-sided test.
        coverage: the least share of answers, and of pairs, that need a verdict.
        rubrics: names; the first is the primary one.
        pairwise: compare bare and wrapped answers side by side as well.
        controls: most questions of each positive control.
        ragas: its metrics; needs the extra ``ragas``.
        embeddings: for ``answer_relevancy``: ``hashing``, ``wordllama``, ``minilm``, or ``module:object``.
        judges: when none is named on the command line.
        max_concurrency, timeout_seconds, give_up_after: see
            :class:`~langgraph_prefetch.evaluation.judging.judge.JudgeLimits`.
    """

    margin: float
    alpha: float = 0.05
    coverage: float = 0.9
    rubrics: tuple[str, ...] = ("answer", "grounded")
    pairwise: bool = True
    controls: int = 30
    ragas: tuple[str, ...] = ()
    embeddings: str = "hashing"
    judges: tuple[str, ...] = ()
    max_concurrency: int = 8
    timeout_seconds: float = 60.0
    give_up_after: int = 10

    def __post_init__(self) -> None:
        for name, low in (("margin", 0.0), ("alpha", 0.0)):
            if not low < getattr(self, name) < (1.0 if name == "margin" else 0.5):
                raise ConfigurationError(f"[judging] {name} is out of range: {getattr(self, name)!r}")
        if not 0 <= self.coverage <= 1:
            raise ConfigurationError(f"[judging] coverage is a share from 0 to 1, not {self.coverage!r}")
        require_at_least("[judging] controls", self.controls, 1)
        if not self.rubrics:
            raise ConfigurationError("[judging] rubrics names none; the first of them is the primary one")
        _known("rubrics", self.rubrics, tuple(RUBRICS))
        _known("ragas", self.ragas, RAGAS_METRICS)

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> JudgingSettings:
        """From the suite's file.

        Raises:
            ConfigurationError: no margin, a name that is none, or a value out of its range.
        """
        given = settings.get("judging", {})
        _known("settings", tuple(given), tuple(each.name for each in fields(cls)))
        if "margin" not in given:
            raise ConfigurationError("[judging] needs a margin: by how much a score may be lower without mattering")
        try:
            as_tuples: dict[str, Any] = {name: _as_given(value) for name, value in given.items()}
            return cls(**as_tuples)
        except TypeError as error:
            raise ConfigurationError(f"[judging] has a value of the wrong type: {error}") from error

    @property
    def primary(self) -> Rubric:
        """The rubric that the suite is judged by."""
        return RUBRICS[self.rubrics[0]]

    def limits(self, budget: Spending) -> JudgeLimits:
        """For the judges."""
        return JudgeLimits(
            max_concurrency=self.max_concurrency,
            timeout_seconds=self.timeout_seconds,
            give_up_after=self.give_up_after,
            budget=JudgeBudget(calls=budget.calls, money=budget.money),
        )


def _as_given(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _known(what: str, names: tuple[str, ...], known: tuple[str, ...]) -> None:
    for name in names:
        if name not in known:
            raise ConfigurationError(
                f"[judging] {what}: no {name!r}; there are {', '.join(known)}.{did_you_mean(str(name), known)}"
            )
