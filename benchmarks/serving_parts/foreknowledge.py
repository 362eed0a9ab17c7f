"""What a policy would do if it knew of each request what nobody knows before: how far its deadlines are from the best.

The policy stays the same and is told more: through which stages each request still goes, or the time of each visit as
well. What is left then is load; what the predictions miss of it is chance that no prediction knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.serving_parts.workload import UNSIZED, Workload
from langgraph_prefetch.serving.queueing.estimates import Estimates, Visit


class Told(Estimates):
    """Is told the journeys, which have no branches; finds a request's by its last feature.

    Args:
        work: whose journeys.
        times: of every visit; else the stages alone, each at its mean for the request's size.
    """

    def __init__(self, work: Workload, *, times: bool) -> None:
        super().__init__(work.flow, features=2)
        self._journeys, self._times = work.journeys, times
        self._means = {each.name: each.service.mean if each.service else 0.0 for each in work.flow.stages}

    def remaining(self, stage: str, visits: int = 0, features: Sequence[float] = ()) -> float:
        """Of this very request."""
        return sum(self._seconds(int(features[1]), place, features[0]) for place in self._from(visits, features))

    def service(self, stage: str, visits: int = 0, features: Sequence[float] = ()) -> float:
        """Of this very visit."""
        return self._seconds(int(features[1]), visits, features[0])

    def learn(self, finished: Sequence[Visit], features: Sequence[float] = ()) -> None:
        """There is nothing to learn."""

    def _from(self, visits: int, features: Sequence[float]) -> range:
        return range(visits, len(self._journeys[int(features[1])].steps))

    def _seconds(self, number: int, place: int, size: float) -> float:
        step = self._journeys[number].steps[place]
        if self._times:
            return step.seconds
        return self._means[step.stage] * (1.0 if step.stage in UNSIZED else size)


def numbered(work: Workload) -> Workload:
    """The same, with each request's number as its last feature."""
    return replace(
        work,
        arrivals=tuple(
            replace(each, features=(*each.features, float(number))) for number, each in enumerate(work.arrivals)
        ),
    )


def hopeless(work: Workload) -> float:
    """Share of the requests, the first twentieth left out, whose own service is longer than their deadline."""
    journeys = work.journeys[len(work.journeys) // 20 :]
    return sum(each.service_seconds > work.deadline_seconds for each in journeys) / len(journeys)
