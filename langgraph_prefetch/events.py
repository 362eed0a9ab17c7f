"""One frozen event per step of the machine, and the hub that hands them to sinks.

Times ``at`` are seconds of the prefetcher's clock. Query text is left out (None) unless ``log_queries`` is set.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.values import Source

logger = logging.getLogger("langgraph_prefetch")


DRY_RUN = "dry run"
"""Why a speculation was ignored that would have been started but for ``dry_run``."""


class Fate(StrEnum):
    """How a speculation ended; every one ends in exactly one of these."""

    SERVED = "served"
    WASTED = "wasted"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """An agent run began to be listened to."""

    run_id: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted:
    """A model call began. ``step`` counts from 1 within the run."""

    run_id: str
    step: int
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEnded:
    """A model call ended.

    Attributes:
        pieces: how many pieces of its stream were heard (0: it did not stream).
        slices: how many pieces of text and reasoning were heard in each of equal slices of its time.
        call_at: when the first piece of a tool call was heard, in clock seconds.
    """

    run_id: str
    step: int
    at: float
    pieces: int
    slices: tuple[int, ...] = ()
    call_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculationStarted:
    """A background retrieval was handed to the executor.

    Attributes:
        p_served: P(it will be served), by the gate; None, as the next three, where there is no gate.
        saved_seconds: what it is expected to save if it is.
        gain: ``p_served`` * ``saved_seconds`` * value of a second, in the unit of the prices; None without prices.
        loss: (1 - ``p_served``) * price of a call.
        destination: who reads the tool's queries.
        query_hash: stands for the query where that is not shown; of equal queries equal within one process.
    """

    run_id: str
    step: int
    at: float
    speculation_id: str
    tool: str
    source: Source
    probability: float
    cue: str
    query: str | None = None
    p_served: float | None = None
    saved_seconds: float | None = None
    gain: float | None = None
    loss: float | None = None
    destination: str = "own_store"
    query_hash: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculationJoined:
    """A signal asked for what is already under way or ready."""

    run_id: str
    step: int
    at: float
    speculation_id: str
    tool: str
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculationIgnored:
    """A signal started nothing, and why (``budget: per_run``, ``rejected: queue full``, ``gate: not worth it`` …).

    ``p_served``, ``saved_seconds``, ``gain`` and ``loss``: as for `SpeculationStarted`, where the signal was weighed.
    """

    run_id: str
    step: int
    at: float
    tool: str
    source: Source
    reason: str
    query: str | None = None
    p_served: float | None = None
    saved_seconds: float | None = None
    gain: float | None = None
    loss: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculationEnded:
    """A speculation met its fate. ``seconds``: how long its retrieval ran, None where it never did or still does."""

    run_id: str
    step: int
    at: float
    speculation_id: str
    tool: str
    source: Source
    fate: Fate
    reason: str
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchCallAnswered:
    """A real call of a named tool was answered.

    Attributes:
        source: what served it; None: the tool itself ran, for ``reason``.
        late: it joined a speculation that was still running.
        waited_seconds: how long the agent waited for the answer.
        retrieval_seconds: how long the retrieval behind the answer took; of a near miss, how long the tool's own
            retrievals have taken on average.
        lead_seconds: from dispatch to the call, where served.
        hideable_seconds: min(retrieval, time from the query being readable in the stream to the call); of a near miss,
            which needs no readable query, the whole retrieval.
        hidden_seconds: retrieval time the agent did not wait for, at most ``hideable_seconds``.
        failed: the tool raised or returned an error.
        forgone: why a speculation that would have answered it was not started (``dry run``, ``gate: not worth it`` …);
            None: there was none.
        forgone_seconds: retrieval time that one would have hidden.
    """

    run_id: str
    step: int
    at: float
    call_id: str | None
    tool: str
    source: Source | None
    speculation_id: str | None
    late: bool
    reason: str
    waited_seconds: float
    retrieval_seconds: float
    lead_seconds: float
    hideable_seconds: float
    hidden_seconds: float
    failed: bool = False
    query: str | None = None
    forgone: str | None = None
    forgone_seconds: float | None = None


class NextCallFate(StrEnum):
    """How a model call that was started in private ended; every one ends in exactly one of these."""

    ADOPTED = "adopted"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class NextCallStarted:
    """The next model call was started in private, on guessed results.

    Attributes:
        next_call_id: names it.
        guesses: where the guessed results come from (``stale``, ``similar+result`` …).
        p_equal: P(the real request will be the same).
        saved_seconds: what it is expected to save if it is.
        gain: ``p_equal`` * ``saved_seconds`` * value of a second, in the unit of the prices; None without prices.
        loss: (1 - ``p_equal``) * price of the tokens.
    """

    run_id: str
    step: int
    at: float
    next_call_id: str
    guesses: str
    p_equal: float
    saved_seconds: float
    gain: float | None = None
    loss: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NextCallIgnored:
    """The next model call could have started in private and did not (``next call: too many wasted`` …).

    ``guesses`` … ``loss``: as for `NextCallStarted`.
    """

    run_id: str
    step: int
    at: float
    reason: str
    guesses: str
    p_equal: float
    saved_seconds: float
    gain: float | None = None
    loss: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NextCallEnded:
    """A model call that was started in private met its fate. Told once it has stopped.

    Attributes:
        seconds: how long it ran: until it was adopted, or until it stopped.
        hidden_seconds: of an adopted one: time of the model call that the agent did not wait for.
        wasted_input_tokens: of one that was not adopted: tokens read, estimated where the provider did not tell.
        wasted_output_tokens: tokens written until it stopped, likewise.
    """

    run_id: str
    step: int
    at: float
    next_call_id: str
    fate: NextCallFate
    reason: str
    seconds: float
    hidden_seconds: float = 0.0
    wasted_input_tokens: int = 0
    wasted_output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NearFetched:
    """The passages around an anchor arrived, to be ranked for near misses.

    Attributes:
        kind: of the anchor: ``question``, ``thought``, ``guess``, ``name``, ``sentence``, ``clause`` or ``half``.
        passages: how many.
        bytes: of their vectors.
        seconds: from the anchor's text to the passages, its embedding included.
        exact: nothing that is nearer is missing from them.
    """

    run_id: str
    step: int
    at: float
    tool: str
    kind: str
    passages: int
    bytes: int
    seconds: float
    exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NearIgnored:
    """The passages around an anchor were not fetched, and why (``budget: …``, ``outbound: …`` …)."""

    run_id: str
    step: int
    at: float
    tool: str
    kind: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NearAnswered:
    """A call that no speculation answered was ranked among the fetched passages.

    Attributes:
        served: the call was answered with that, or, under ``serve="verified"``, its result guessed.
        tier: ``proved`` or ``likely``; empty where nothing may be answered.
        reason: why it was not served (``unsure``, ``not yet trusted``, ``nothing fetched`` …).
        reach: how surely the passages hold everything near the query; None where nothing could be ranked.
        passages: among how many.
        seconds: from the call to the answer, the embedding of its query included.
    """

    run_id: str
    step: int
    at: float
    tool: str
    served: bool
    tier: str
    reason: str
    passages: int
    seconds: float
    reach: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NearChecked:
    """What the tool itself returns became known of a call that was ranked among fetched passages.

    The numbers are those of the tool's traffic in this scope.

    Attributes:
        served: the ranking had been served.
        wrong: the tool returns something else.
        audited, audited_wrong: served near misses that were searched again, and those of them that were wrong.
        low, high: Clopper-Pearson interval, 95 %, of the share of wrong ones among the served, since the threshold last
            changed.
        state: of the likely tier: ``learning``, ``open`` or ``closed``.
        known, needed: calls known, and how many the next test of a threshold needs.
    """

    run_id: str
    step: int
    at: float
    tool: str
    served: bool
    wrong: bool
    audited: int
    audited_wrong: int
    low: float
    high: float
    state: str
    known: int
    needed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NearTierChanged:
    """What may be answered of a tool's near misses has changed.

    Attributes:
        tier: ``likely``, or ``all``.
        open: it is answered from now on; False: it is not.
        reason: why.
        threshold: of the reach, above which likely answers are served.
    """

    at: float
    tool: str
    tier: str
    open: bool
    reason: str
    threshold: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """An agent run is over; what it left behind was cancelled. ``idle``: models ran and none of them streamed."""

    run_id: str
    at: float
    idle: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Something of ours failed; the agent's run went on as if prefetch were not there."""

    at: float
    where: str
    error: str


Event = (
    RunStarted
    | StepStarted
    | StepEnded
    | SpeculationStarted
    | SpeculationJoined
    | SpeculationIgnored
    | SpeculationEnded
    | SearchCallAnswered
    | NextCallStarted
    | NextCallIgnored
    | NextCallEnded
    | NearFetched
    | NearIgnored
    | NearAnswered
    | NearChecked
    | NearTierChanged
    | RunEnded
    | Trouble
)


class EventSink(Protocol):
    """Receives every event, from any thread. May raise or be slow without harming a run's answers."""

    def __call__(self, event: Event, /) -> None:
        """Take one event."""
        ...


class EventHub:
    """Hands each event to every sink, in the order of subscription. A sink that raises is dropped, and said so once."""

    def __init__(self) -> None:
        self._sinks: tuple[EventSink, ...] = ()
        self._lock = ForkSafeLock()

    def subscribe(self, sink: EventSink) -> Callable[[], None]:
        """Add a sink; the returned function takes it away again."""
        with self._lock:
            self._sinks = (*self._sinks, sink)
        return lambda: self._remove(sink)

    def _remove(self, sink: EventSink) -> None:
        with self._lock:
            self._sinks = tuple(each for each in self._sinks if each is not sink)

    def __call__(self, event: Event) -> None:
        """Emit ``event``. Never raises."""
        for sink in self._sinks:
            try:
                sink(event)
            except Exception as error:  # noqa: BLE001 - a failing sink never fails the run
                self._remove(sink)
                logger.warning("event sink %r failed and was removed: %s", sink, type(error).__name__)
                # Counted by the sinks that are left.
                self(Trouble(at=event.at, where="event sink", error=type(error).__name__))
