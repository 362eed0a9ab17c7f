"""Whether one more speculation may run now: places and rates, with a reserve for real calls. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from langgraph_prefetch.config import ToolPolicy

SPECULATIVE_SHARE_OF_RATE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One tool's traffic at one moment.

    Attributes:
        speculative: speculations running.
        real: real calls running.
        tokens: what is left of the rate limit, in calls; refilled by :func:`refilled`.
        as_of: when ``tokens`` was right, in clock seconds.
    """

    speculative: int = 0
    real: int = 0
    tokens: float = 0.0
    as_of: float | None = None


def refilled(lane: Lane, policy: ToolPolicy, now: float) -> Lane:
    """The lane with its rate tokens brought up to ``now``; one second's worth at most is saved up."""
    if policy.max_per_second is None:
        return lane
    full = max(1.0, policy.max_per_second)
    if lane.as_of is None:
        return replace(lane, tokens=full, as_of=now)
    return replace(lane, tokens=min(full, lane.tokens + (now - lane.as_of) * policy.max_per_second), as_of=now)


def is_limited(policy: ToolPolicy) -> bool:
    """False for a tool that states no limit: then its traffic need not be counted."""
    return policy.max_concurrency is not None or policy.max_per_second is not None


def may_speculate(lane: Lane, policy: ToolPolicy) -> bool:
    """True if one more speculation leaves real calls the places and the share of the rate reserved for them.

    ``lane`` must have been refilled to now.
    """
    if policy.max_concurrency is not None:
        kept = max(policy.reserve, lane.real)
        if lane.speculative + 1 > policy.max_concurrency - kept:
            return False
    if policy.max_per_second is None:
        return True
    full = max(1.0, policy.max_per_second)
    return lane.tokens - 1 >= (1 - SPECULATIVE_SHARE_OF_RATE) * full


def speculation_started(lane: Lane) -> Lane:
    """The lane with one more speculation running."""
    return replace(lane, speculative=lane.speculative + 1, tokens=lane.tokens - 1)


def speculation_ended(lane: Lane) -> Lane:
    """The lane with one speculation fewer."""
    return replace(lane, speculative=lane.speculative - 1)


def real_call_started(lane: Lane) -> Lane:
    """The lane with one more real call; it takes a rate token if one is left, and runs up no debt if not."""
    return replace(lane, real=lane.real + 1, tokens=max(0.0, lane.tokens - 1))


def real_call_ended(lane: Lane) -> Lane:
    """The lane with one real call fewer."""
    return replace(lane, real=lane.real - 1)
