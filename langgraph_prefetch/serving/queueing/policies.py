"""Policies of a queue: who is served next.

All of them serve demand before speculation. The two that know deadlines put a request that will more likely miss its
deadline than not (`Waiting.hopeless`) behind the others: without that, deadline policies collapse near saturation,
because they spend the stage on requests that are late already while those behind them become late. Such requests still
finish, in the order they came, as soon as nobody with a chance waits.

That a controller ranks requests of retrieval-augmented generation by how far they have come is Harmonia's
(arXiv 2505.07833); that earliest deadline first keeps all deadlines that can be kept on one processor, and falls apart
beyond that, is older (Liu and Layland 1973; Locke 1986).

Defaults, stated: a request without a deadline stands where one due ``unhurried_seconds`` after its arrival would stand,
and is never late. A deadline that lies before the arrival is late from the start. A clock that jumps makes requests
seem more or less late, all by the same amount; their order among themselves stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, inf

from langgraph_prefetch.errors import ConfigurationError, did_you_mean
from langgraph_prefetch.serving.queueing.waiting import QueuePolicy, Waiting

UNHURRIED_SECONDS = 60.0
GRAIN_SECONDS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstCome:
    """First come, first served, at each stage by itself."""

    @property
    def name(self) -> str:
        """As tables show it."""
        return "fcfs"

    def choose(self, waiting: Sequence[Waiting], now: float) -> int:
        """The one that has waited here longest."""
        return next((place for place, each in enumerate(waiting) if not each.speculative), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class EarliestDeadline:
    """Earliest deadline first.

    Attributes:
        demote: requests that will more likely be late than not, whatever is done, go behind the others.
        grain_seconds: deadlines that differ by less count as equal; among equals the shorter visit goes first, so that
            where stages share replicas the fast ones come before the slow ones.
        unhurried_seconds: how far from its arrival a request without a deadline counts as due.
    """

    demote: bool = True
    grain_seconds: float = GRAIN_SECONDS
    unhurried_seconds: float = UNHURRIED_SECONDS

    def __post_init__(self) -> None:
        _check_grain(self.grain_seconds)

    @property
    def name(self) -> str:
        """As tables show it."""
        return "edf" if self.demote else "edf, no demotion"

    def choose(self, waiting: Sequence[Waiting], now: float) -> int:
        """The one that is due first among those that can still make it."""
        best, best_key = 0, (True, True, inf, inf, inf)
        for place, each in enumerate(waiting):
            deadline = each.deadline
            due = each.arrived_at + self.unhurried_seconds if deadline is None else deadline
            late = self.demote and each.hopeless(now)
            rank = each.arrived_at if late else floor(due / self.grain_seconds)
            key = (each.speculative, late, rank, each.service_seconds, each.queued_at)
            if key < best_key:
                best, best_key = place, key
        return best


@dataclass(frozen=True, slots=True, kw_only=True)
class LeastSlack:
    """Least slack first: deadline - now - what it is predicted to need still.

    Attributes:
        demote: requests that will more likely be late than not, whatever is done, go behind the others.
        grain_seconds: slacks that differ by less count as equal; among equals the shorter visit goes first, so that
            where stages share replicas the fast ones come before the slow ones.
        unhurried_seconds: how far from its arrival a request without a deadline counts as due.
    """

    demote: bool = True
    grain_seconds: float = GRAIN_SECONDS
    unhurried_seconds: float = UNHURRIED_SECONDS

    def __post_init__(self) -> None:
        _check_grain(self.grain_seconds)

    @property
    def name(self) -> str:
        """As tables show it."""
        return "slack" if self.demote else "slack, no demotion"

    def choose(self, waiting: Sequence[Waiting], now: float) -> int:
        """The one with least slack among those that have any."""
        best, best_key = 0, (True, True, inf, inf, inf)
        for place, each in enumerate(waiting):
            deadline = each.deadline
            due = each.arrived_at + self.unhurried_seconds if deadline is None else deadline
            slack = due - now - each.remaining_seconds
            late = self.demote and each.hopeless(now)
            rank = each.arrived_at if late else floor(slack / self.grain_seconds)
            key = (each.speculative, late, rank, each.service_seconds, each.queued_at)
            if key < best_key:
                best, best_key = place, key
        return best


def _check_grain(seconds: float) -> None:
    if not 0 < seconds < inf:
        raise ConfigurationError(f"grain_seconds must be above 0, not {seconds}")


DEFAULT_POLICY: QueuePolicy = EarliestDeadline()
"""The one of the two that missed fewer deadlines (`benchmarks/serving.py --only deadlines`)."""

POLICIES: dict[str, QueuePolicy] = {
    each.name: each
    for each in (
        FirstCome(),
        EarliestDeadline(),
        LeastSlack(),
        EarliestDeadline(demote=False),
        LeastSlack(demote=False),
    )
}
"""By name."""


def policy_named(name: str) -> QueuePolicy:
    """The policy with this name.

    Raises:
        ConfigurationError: there is none.
    """
    if name not in POLICIES:
        known = ", ".join(map(repr, POLICIES))
        raise ConfigurationError(f"no queue policy {name!r}; there are {known}.{did_you_mean(name, POLICIES)}")
    return POLICIES[name]
