"""Replicas of each component by its own load: those that few requests reach grow with those few, and not with all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, exp

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.events import StagePressure
from langgraph_prefetch.serving.warmup.keeping import WarmStage


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingRule:
    """How fast, and how much.

    Attributes:
        utilisation: share of its time for which a replica is to be busy.
        drain_seconds: in which a queue is to be worked off, besides what comes.
        rise_seconds: time constant with which the rate of requests is smoothed.
        fade_seconds: time constant with which a peak of it is forgotten.
        most: replicas of one pool.
    """

    utilisation: float = 0.7
    drain_seconds: float = 2.0
    rise_seconds: float = 2.0
    fade_seconds: float = 30.0
    most: int = 1_000

    def __post_init__(self) -> None:
        if (
            not 0 < self.utilisation <= 1
            or min(self.drain_seconds, self.rise_seconds, self.fade_seconds, self.most) <= 0
        ):
            raise ConfigurationError("utilisation lies in (0, 1]; the seconds and most are above 0")


class ComponentScaling:
    """A `PoolSizing` for live pools and for `simulate`: grows at once, shrinks slowly, to the replicas kept warm.

    Args:
        stages: what the components need; the name of each is that of its pool.
        rule: how fast, and how much.
        keep: pool -> replicas that stay in any case, or a function that says so each time, such as
            `ExpectedWarmth.replicas`; else the baseline of what is critical.
    """

    def __init__(
        self,
        stages: Iterable[WarmStage],
        rule: ScalingRule | None = None,
        *,
        keep: Mapping[str, int] | Callable[[], Mapping[str, int]] | None = None,
    ) -> None:
        self._stages, self._rule = {each.name: each for each in stages}, rule or ScalingRule()
        self._keep = keep
        self._rates: dict[str, float] = {}
        self._peaks: dict[str, float] = {}
        self._told_at: float | None = None

    def sizes(self, pressures: Sequence[StagePressure], now: float) -> Mapping[str, int]:
        """Pool -> replicas from now on; a clock that stands still or goes back changes nothing."""
        passed = now - self._told_at if self._told_at is not None else now
        self._told_at = now
        if passed <= 0:
            return {}
        keep = self._keep() if callable(self._keep) else self._keep or {}
        return {
            each.pool: self._size(self._stages[each.pool], each, passed, keep)
            for each in pressures
            if each.pool in self._stages
        }

    def _size(self, stage: WarmStage, pressure: StagePressure, passed: float, keep: Mapping[str, int]) -> int:
        rule = self._rule
        now, before = pressure.arrived / passed, self._rates.get(stage.name)
        rate = now if before is None else now + (before - now) * exp(-passed / rule.rise_seconds)
        peak = max(rate, self._peaks.get(stage.name, 0.0) * exp(-passed / rule.fade_seconds))
        self._rates[stage.name], self._peaks[stage.name] = rate, peak
        visits = peak / rule.utilisation + pressure.waiting / rule.drain_seconds
        wanted = ceil(visits * stage.service_seconds / stage.concurrency - 1e-9)
        least = keep.get(stage.name, stage.baseline if stage.critical else 0)
        return min(rule.most, max(least, wanted))
