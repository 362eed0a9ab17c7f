"""How many replicas are kept warm. Pure: rates and times are passed in.

What every request passes through keeps a baseline warm; what starts fast, or is needed seldom, may scale from zero.
Replicas for the requests that are to be expected by the hour of the week are started ahead of them. That a baseline on
the critical path and start-up in parallel keep cold starts from adding up along an agent's steps is what a production
study of compound systems reports (arXiv 2604.25724).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil, isfinite

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.serving.flow.values import FlowValues
from langgraph_prefetch.serving.queueing.expectations import expected
from langgraph_prefetch.serving.warmup.rates import WeeklyRates

_SURE = 0.999


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmStage:
    """What a stage needs.

    Attributes:
        name: of the stage.
        visits: of one request, on average.
        service_seconds: of one visit.
        cold_start_seconds: from asking for a replica to its first visit.
        concurrency: visits that a replica serves at once.
        critical: every request passes through it.
        baseline: replicas that are warm at all times, where it is critical and slow to start.
    """

    name: str
    visits: float
    service_seconds: float
    cold_start_seconds: float
    concurrency: int = 1
    critical: bool = True
    baseline: int = 1

    def __post_init__(self) -> None:
        numbers = (self.visits, self.service_seconds, self.cold_start_seconds)
        if not all(isfinite(each) and each >= 0 for each in numbers) or self.concurrency < 1 or self.baseline < 0:
            raise ConfigurationError(f"stage {self.name!r}: times and visits are finite and from 0 on")


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmRule:
    """How careful.

    Attributes:
        patience_seconds: a stage that starts within this may scale from zero.
        utilisation: share of its time for which a warm replica is to be busy.
        ahead_seconds: besides a stage's own start-up, so much earlier its replicas are asked for.
        most: replicas of one stage.
    """

    patience_seconds: float = 1.0
    utilisation: float = 0.7
    ahead_seconds: float = 300.0
    most: int = 1_000

    def __post_init__(self) -> None:
        if not (
            self.patience_seconds >= 0 and 0 < self.utilisation <= 1 and self.ahead_seconds >= 0 and self.most >= 0
        ):
            raise ConfigurationError("utilisation lies in (0, 1], the other values start at 0")


def stages_of(flow: FlowValues) -> tuple[WarmStage, ...]:
    """What the stages of a flow need; critical is what at least 99.9 % of the requests pass through."""
    means = expected(flow)
    # Of a Markov chain: the visits there are, for each request that comes at all.
    passing = {name: visits * (1 - means.returns[name]) for name, visits in means.visits.items()}
    return tuple(
        WarmStage(
            name=stage.name,
            visits=means.visits[stage.name],
            service_seconds=stage.service.mean if stage.service else 0.0,
            cold_start_seconds=stage.cold_start_seconds,
            concurrency=stage.concurrency,
            critical=passing[stage.name] >= _SURE,
            baseline=stage.min_replicas,
        )
        for stage in flow.stages
    )


def keep_warm(
    stages: Iterable[WarmStage], rates: WeeklyRates, now: float, rule: WarmRule | None = None
) -> Mapping[str, int]:
    """Stage -> replicas that are to be warm at ``now``, so that those who come from then on find them.

    Args:
        stages: what they need.
        rates: requests by hour of the week; where nothing is known of the hour, only the baselines are kept.
        now: seconds since 1970.
        rule: how careful.
    """
    rule = rule or WarmRule()
    found = {}
    for stage in stages:
        quick = stage.cold_start_seconds <= rule.patience_seconds
        least = stage.baseline if stage.critical and not quick else 0
        rate = rates.most(now, stage.cold_start_seconds + rule.ahead_seconds) or 0.0
        busy = rate * stage.visits * stage.service_seconds / (stage.concurrency * rule.utilisation)
        # Less than one request in the time of a start-up: it is started when it comes, if that is quick.
        wanted = 0 if quick and busy < 1 else ceil(busy - 1e-9)
        found[stage.name] = min(rule.most, max(least, wanted))
    return found
