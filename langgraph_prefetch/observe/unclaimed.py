"""The ledger of what was sent early and never asked for."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field

from langgraph_prefetch.events import Event, Fate, SpeculationEnded, SpeculationStarted
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.values import Source

MAX_ROWS = 1_000
MAX_OPEN = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class UnclaimedCall:
    """One call that was started early and answered no real call.

    Attributes:
        tool: the tool's name.
        destination: who reads its queries: ``"own_store"`` or ``"third_party"``.
        source: ``reasoning`` (a guess) or ``sealed`` (the model had completed the call).
        started_at, ended_at: clock seconds.
        fate: ``wasted``, ``failed`` or ``cancelled``; ``reason`` says why.
        seconds: how long it ran; None: it never began, so that nothing was sent.
        query: the query; None without ``log_queries``.
        query_hash: stands for the query: see ``prefetch.query_hash(text)``.
    """

    run_id: str
    tool: str
    destination: str
    source: Source
    started_at: float
    ended_at: float
    fate: Fate
    reason: str
    seconds: float | None
    query: str | None = field(repr=False)
    query_hash: str | None


class UnclaimedLedger:
    """An event sink that keeps the latest thousand calls that nobody claimed. Safe for threads."""

    def __init__(self) -> None:
        self._lock = ForkSafeLock()
        self._open: OrderedDict[str, SpeculationStarted] = OrderedDict()
        self._rows: deque[UnclaimedCall] = deque(maxlen=MAX_ROWS)

    def __call__(self, event: Event) -> None:
        """Take one event."""
        if isinstance(event, SpeculationStarted):
            with self._lock:
                self._open[event.speculation_id] = event
                if len(self._open) > MAX_OPEN:
                    self._open.popitem(last=False)
        elif isinstance(event, SpeculationEnded):
            with self._lock:
                started = self._open.pop(event.speculation_id, None)
                if started is not None and event.fate is not Fate.SERVED:
                    self._rows.append(_row(started, event))

    def rows(self) -> tuple[UnclaimedCall, ...]:
        """What is kept, oldest first."""
        with self._lock:
            return tuple(self._rows)


def _row(started: SpeculationStarted, ended: SpeculationEnded) -> UnclaimedCall:
    return UnclaimedCall(
        run_id=started.run_id,
        tool=started.tool,
        destination=started.destination,
        source=started.source,
        started_at=started.at,
        ended_at=ended.at,
        fate=ended.fate,
        reason=ended.reason,
        seconds=ended.seconds,
        query=started.query,
        query_hash=started.query_hash,
    )
