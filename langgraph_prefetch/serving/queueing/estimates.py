"""How long a request still needs, learnt from the requests that have finished."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.serving.flow.values import FlowValues
from langgraph_prefetch.serving.queueing.expectations import expected
from langgraph_prefetch.serving.queueing.recent import Recent
from langgraph_prefetch.serving.queueing.regression import Fitted, predicted, unfitted, updated

KEEP = 0.999
LIKELY = 0.5
"""Share of the requests that need no more than `Estimates.likely` says: the median. The mean is no such share: where
some requests go round and round it lies far above what most of them need."""
RECENT, ENOUGH = 400, 30
"""Finished visits of a stage that the share is taken from, and how many there must be."""
MAX_STAGES = 1_000
MAX_VISITS = 100
"""Visits beyond are not learnt from: a request that has gone round so often says little of the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One visit of a request, as it was when it joined the stage's queue, and what became of it.

    Attributes:
        stage: which.
        visits: stages the request had been through before.
        service_seconds: how long it was served.
    """

    stage: str
    visits: int
    service_seconds: float


class Estimates:
    """Predicts the service that remains of a request, and that of one visit.

    One online regression a stage on (1, visits so far, features of the request). Until requests have finished, the
    prediction is the flow's mean. Not for several threads at once: it belongs to the loop that serves, or to one
    simulation.

    Args:
        flow: where the first guesses come from; None starts from 0 for every stage.
        features: how many numbers come with each request, such as the length of its question.
        keep: weight of the past at each finished request.

    Raises:
        ConfigurationError: values out of their range, or a flow that has no means.
    """

    def __init__(self, flow: FlowValues | None = None, *, features: int = 0, keep: float = KEEP) -> None:
        if features < 0 or not 0 < keep <= 1:
            raise ConfigurationError("features must be 0 or more, and keep above 0 and at most 1")
        self._features, self._keep = features, keep
        self._means = dict(expected(flow).remaining_seconds) if flow else {}
        self._service = {each.name: each.service.mean if each.service else 0.0 for each in flow.stages} if flow else {}
        self._fitted: dict[str, Fitted] = {}
        self._visit: dict[str, Fitted] = {}
        self._ratios: dict[str, Recent] = {}

    def remaining(self, stage: str, visits: int = 0, features: Sequence[float] = ()) -> float:
        """Predicted seconds of service from joining ``stage`` to the end of the flow; never below 0."""
        return max(0.0, predicted(self._of(self._fitted, self._means, stage), self._row(visits, features)))

    def likely(self, stage: str, visits: int = 0, features: Sequence[float] = ()) -> float:
        """Seconds of service that half of the requests like this one need at most, from joining ``stage`` to the end.

        `remaining`, times what the last requests needed for each second that was predicted of them; `LIKELY` is the
        share of them. Until enough have finished it is `remaining`.
        """
        ratios = self._ratios.get(stage)
        share = 1.0 if ratios is None or len(ratios) < ENOUGH else ratios.quantile(LIKELY)
        return share * self.remaining(stage, visits, features)

    def service(self, stage: str, visits: int = 0, features: Sequence[float] = ()) -> float:
        """Predicted seconds of one visit; never below 0."""
        return max(0.0, predicted(self._of(self._visit, self._service, stage), self._row(visits, features)))

    def learn(self, finished: Sequence[Visit], features: Sequence[float] = ()) -> None:
        """A request went through these visits, in this order, and left the flow.

        Times that are negative or not finite, as a clock that jumps gives them, make the whole request be ignored.
        """
        if not all(isfinite(each.service_seconds) and each.service_seconds >= 0 for each in finished):
            return
        remaining = 0.0
        for visit in reversed(finished[:MAX_VISITS]):
            remaining += visit.service_seconds
            row = self._row(visit.visits, features)
            self._compare(visit, remaining, features)
            for states, means, seconds in (
                (self._fitted, self._means, remaining),
                (self._visit, self._service, visit.service_seconds),
            ):
                if visit.stage in states or len(states) < MAX_STAGES:
                    before = self._of(states, means, visit.stage)
                    states[visit.stage] = updated(before, row, seconds, keep=self._keep)

    def _compare(self, visit: Visit, seconds: float, features: Sequence[float]) -> None:
        """What it needed, with what would have been said of it."""
        told = self.remaining(visit.stage, visit.visits, features)
        if told > 0 and (visit.stage in self._ratios or len(self._ratios) < MAX_STAGES):
            self._ratios.setdefault(visit.stage, Recent(RECENT)).add(seconds / told)

    def _of(self, states: dict[str, Fitted], means: dict[str, float], stage: str) -> Fitted:
        return states.get(stage) or unfitted((means.get(stage, 0.0), *(0.0 for _ in range(self._features + 1))))

    def _row(self, visits: int, features: Sequence[float]) -> tuple[float, ...]:
        if len(features) != self._features:
            raise ConfigurationError(
                f"a request came with {len(features)} features where {self._features} were announced: "
                f"Estimates(features={len(features)}), or give each request the same number"
            )
        return (1.0, float(visits), *features)
