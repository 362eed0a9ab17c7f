"""What a simulation, or a live run that is to be compared with one, came to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, nan
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """One request that has left the flow.

    Attributes:
        number: of its arrival, from 0.
        arrived_at, finished_at: time.
        deadline: when it should have left; None for none.
        visits: stages it went through.
        waited_seconds, service_seconds: of all its visits.
        speculative: nobody asked for it.
        refused: a queue was full.
    """

    number: int
    arrived_at: float
    finished_at: float
    deadline: float | None
    visits: int
    waited_seconds: float
    service_seconds: float
    speculative: bool = False
    refused: bool = False

    @property
    def seconds(self) -> float:
        """From its arrival to its end."""
        return self.finished_at - self.arrived_at

    @property
    def late(self) -> bool:
        """It missed its deadline, or was refused."""
        return self.refused or (self.deadline is not None and self.finished_at > self.deadline)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolFigures:
    """One pool.

    Attributes:
        name: of the pool.
        replicas: at the end.
        visits: that were served.
        utilisation: busy places, of all places, over time.
        mean_waited_seconds, p95_waited_seconds: in its queue.
    """

    name: str
    replicas: int
    visits: int
    utilisation: float
    mean_waited_seconds: float
    p95_waited_seconds: float


@dataclass(frozen=True, kw_only=True)
class SimulationResult:
    """What became of the requests. Speculation is left out of all figures but ``requests`` and ``pools``.

    Attributes:
        flow, policy: names.
        seed: of what was drawn.
        seconds: until the last request had left.
        requests: in the order they came; those of the time of warming up are left out.
        pools: in the order of the flow.
    """

    flow: str
    policy: str
    seed: int
    seconds: float
    requests: tuple[Finished, ...] = field(repr=False)
    pools: tuple[PoolFigures, ...]

    @cached_property
    def demand(self) -> tuple[Finished, ...]:
        """Requests that somebody asked for."""
        return tuple(each for each in self.requests if not each.speculative)

    @cached_property
    def times(self) -> tuple[float, ...]:
        """Seconds of each that was served, the shortest first."""
        return tuple(sorted(each.seconds for each in self.demand if not each.refused))

    @property
    def violations(self) -> float:
        """Share of the demand that was late or refused; NaN where there was none."""
        return sum(each.late for each in self.demand) / len(self.demand) if self.demand else nan

    @property
    def refused(self) -> int:
        """Demand that met a full queue."""
        return sum(each.refused for each in self.demand)

    @property
    def mean_seconds(self) -> float:
        """Of those that were served; NaN where none was."""
        return sum(self.times) / len(self.times) if self.times else nan

    @property
    def throughput(self) -> float:
        """Demand served a second, between the first arrival and the last end."""
        served = [each for each in self.demand if not each.refused]
        span = max((e.finished_at for e in served), default=0.0) - min((e.arrived_at for e in served), default=0.0)
        return len(served) / span if span > 0 else 0.0

    def percentile(self, share: float) -> float:
        """Seconds that this share of the served demand needed at most; NaN where none was."""
        return percentile(self.times, share)

    def as_json(self) -> dict[str, Any]:
        """The figures, without the requests."""
        return {
            "flow": self.flow,
            "policy": self.policy,
            "seed": self.seed,
            "seconds": self.seconds,
            "requests": len(self.demand),
            "speculative": len(self.requests) - len(self.demand),
            "violations": self.violations,
            "refused": self.refused,
            "throughput": self.throughput,
            "mean_seconds": self.mean_seconds,
            "p50_seconds": self.percentile(0.5),
            "p95_seconds": self.percentile(0.95),
            "p99_seconds": self.percentile(0.99),
            "pools": {
                each.name: {
                    "replicas": each.replicas,
                    "visits": each.visits,
                    "utilisation": each.utilisation,
                    "mean_waited_seconds": each.mean_waited_seconds,
                    "p95_waited_seconds": each.p95_waited_seconds,
                }
                for each in self.pools
            },
        }


def percentile(ordered: Sequence[float], share: float) -> float:
    """The least of ``ordered`` that this share does not exceed; NaN of nothing."""
    return ordered[min(len(ordered), max(1, ceil(share * len(ordered)))) - 1] if ordered else nan
