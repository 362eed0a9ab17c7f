"""What a request goes through: its stages and the time of each visit, drawn before anything is simulated.

Drawn first and by request, so that every policy meets the very same requests, and a live run can be given them too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from math import floor
from random import Random

from langgraph_prefetch.errors import SimulationError
from langgraph_prefetch.serving.flow.values import END, START, FlowValues, ServiceTime

MAX_VISITS = 10_000
"""Of one request. A flow that draws more of them never lets its requests go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One visit.

    Attributes:
        stage: which.
        seconds: of service.
        then: places, in the journey, of the visits that begin when this one ends.
    """

    stage: str
    seconds: float
    then: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Journey:
    """All visits of one request, and those that it begins with. It has ended when all of them have."""

    first: tuple[int, ...]
    steps: tuple[Step, ...]

    @property
    def service_seconds(self) -> float:
        """Of all visits together."""
        return sum(each.seconds for each in self.steps)


class JourneyMaker:
    """Draws journeys through a flow.

    Args:
        flow: checked already.
        seed: the same seed and number give the same journey.
    """

    def __init__(self, flow: FlowValues, seed: int) -> None:
        self._name, self._seed = flow.name, seed
        self._stages = {each.name: each for each in flow.stages}
        targets: dict[str, list[str]] = {}
        weights: dict[str, list[float]] = {}
        for edge in flow.edges:
            targets.setdefault(edge.source, []).append(edge.target)
            weights.setdefault(edge.source, []).append(edge.probability)
        self._targets = targets
        self._weights: Mapping[str, list[float]] = {name: list(accumulate(each)) for name, each in weights.items()}

    def draw(self, number: int) -> Journey:
        """The journey of request ``number``.

        Raises:
            SimulationError: it has no end.
        """
        random = Random(f"journey {self._seed} {number}")  # noqa: S311 - a simulation, no secret
        visits: list[tuple[str, float, list[int]]] = []
        first: list[int] = []
        open_ends: deque[tuple[str, list[int]]] = deque([(START, first)])
        while open_ends:
            source, onward = open_ends.popleft()
            for _ in range(self._branches(source, random)):
                target = self._target(source, random)
                if target == END:
                    continue
                if len(visits) >= MAX_VISITS:
                    raise SimulationError(f"flow {self._name!r}: request {number} made {MAX_VISITS} visits without end")
                onward.append(len(visits))
                visits.append((target, drawn(self._stages[target].service, random), []))
                open_ends.append((target, visits[-1][2]))
        steps = tuple(Step(stage=stage, seconds=seconds, then=tuple(then)) for stage, seconds, then in visits)
        return Journey(first=tuple(first), steps=steps)

    def _branches(self, source: str, random: Random) -> int:
        stage = self._stages.get(source)
        if stage is None or stage.amplification == 1:
            return 1
        whole = floor(stage.amplification)
        return whole + (random.random() < stage.amplification - whole)

    def _target(self, source: str, random: Random) -> str:
        targets = self._targets[source]
        return targets[0] if len(targets) == 1 else random.choices(targets, cum_weights=self._weights[source])[0]


def journey(flow: FlowValues, number: int, *, seed: int = 0) -> Journey:
    """The journey of one request through ``flow``, which must be one that can be simulated."""
    return JourneyMaker(flow, seed).draw(number)


def drawn(service: ServiceTime | None, random: Random) -> float:
    """A time of service: one of the samples, or of a gamma distribution of the same mean and variation.

    A variation of 1 makes it exponential, 0 fixed. A stage without measurements takes no time.
    """
    if service is None:
        return 0.0
    if service.samples:
        return random.choice(service.samples)
    if service.variation == 0:
        return service.mean
    shape = 1 / service.variation**2
    return random.gammavariate(shape, service.mean / shape)
