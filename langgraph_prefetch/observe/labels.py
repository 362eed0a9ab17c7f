"""Label values that stay few, whatever events say: each distinct one is a time series that somebody pays for."""

from __future__ import annotations

import re

OTHER = "other"
MAX_UNKNOWN = 32

ANOTHER_TOOL = "another tool ran"
_ANOTHER_TOOL = re.compile(r"tool .* ran", re.DOTALL)

REASONS = frozenset(
    {
        "",
        # why a signal started nothing
        "failed a moment ago",
        "budget: guesses_per_step",
        "budget: sealed_per_step",
        "budget: per_run",
        "budget: per_scope_per_minute",
        "budget: per_process_per_minute",
        "rejected: queue full",
        "rejected: loop busy",
        "rejected: closed",
        "rejected: its event loop is closed",
        # why no model call was started in private
        "next call: rate limiter",
        "next call: hosted tools",
        "next call: nothing to hide",
        "next call: not worth it",
        "next call: too many wasted",
        "next call: budget: per_run",
        "next call: budget: max_running",
        "next call: failed a moment ago",
        "dry run",
        # why no passages were fetched, or a ranking among them was not served
        "budget: neighbourhoods_per_run",
        "it has not moved",
        "outbound: instruction",
        "outbound: secret",
        "nothing fetched",
        "the index has changed",
        "not comparable",
        "too few passages",
        "unsure",
        "not yet trusted",
        "closed",
        "a guess only",
        "took too long",
        "another view",
        # how one ended
        "the request is the same",
        "the request differs",
        "a tool returned something else",
        "nobody asked for it",
        "interrupted",
        "a tool failed",
        # how a speculation ended
        "ready",
        "late",
        "expired",
        "run ended",
        "paused",
        "a real call went first",
        "the call was cancelled",
        "its tool gave it up",
        ANOTHER_TOOL,
        # why a call's tool ran itself
        "nothing speculated",
        "still queued",
        "speculation failed",
        "speculation cancelled",
        "too old",
        "waited too long",
        "no word of it",
        "cannot be copied",
        "resumed",
    }
)
"""Reasons that are labels as they stand."""


class Labels:
    """Lets the first ``most`` distinct values through; any later one becomes ``"other"``. Safe for threads."""

    __slots__ = ("_most", "_seen")

    def __init__(self, most: int) -> None:
        self._most = most
        # Threads that meet here may let one value more through, which does no harm.
        self._seen: set[str] = set()

    def of(self, value: str) -> str:
        """The label of ``value``."""
        if value in self._seen:
            return value
        if len(self._seen) >= self._most:
            return OTHER
        self._seen.add(value)
        return value


class ReasonLabels:
    """The labels of reasons: known ones as they are, others by what stands before their details, a few of them."""

    __slots__ = ("_unknown",)

    def __init__(self, most_unknown: int = MAX_UNKNOWN) -> None:
        self._unknown = Labels(most_unknown)

    def of(self, reason: str) -> str:
        """The label of ``reason``."""
        if reason in REASONS:
            return reason
        if _ANOTHER_TOOL.fullmatch(reason):
            return ANOTHER_TOOL
        head = reason.partition(":")[0].strip()
        # A number in it would make a new label of each event.
        return OTHER if any(map(str.isdigit, head)) else self._unknown.of(head)
