"""What one agent run carries through the speculation room."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph_prefetch.config import PrefetchOptions
from langgraph_prefetch.events import EventHub
from langgraph_prefetch.keys import Encoded, RunScope, Scope, SearchKey, search_key
from langgraph_prefetch.live_variants import NOTHING, Pinned
from langgraph_prefetch.ports import Caller, SearchTool
from langgraph_prefetch.speculation.cache import Entry, SpeculationCache
from langgraph_prefetch.speculation.elsewhere import Elsewhere
from langgraph_prefetch.speculation.experience import Experience
from langgraph_prefetch.speculation.flight import FlightState
from langgraph_prefetch.speculation.latency import TypicalSeconds
from langgraph_prefetch.speculation.shared import Shared
from langgraph_prefetch.speculation.watching import Watch

MAX_RUN_ENTRIES = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The parts a run works with: its own cache where results stay within the run, the shared one under a scope.

    ``gate`` weighs guesses, and ``watch`` holds those that were not started; None where nothing is weighed.
    ``trouble`` is told of failures in what belongs to the user. ``given_up`` is told of entries that are void now but
    have a result. ``elsewhere`` takes searches to workers, or shares results with other processes; None: neither.
    ``given`` is what experiments gave this run: results of runs that were given something else are not its own.
    ``over`` is set as soon as the run is.
    """

    run_id: str
    scope: Scope
    options: PrefetchOptions
    shared: Shared
    events: EventHub
    typical: TypicalSeconds
    thread_id: str | None = None
    own: SpeculationCache | None = field(default=None)
    gate: Experience | None = None
    watch: Watch | None = None
    trouble: Callable[[str, BaseException], None] = lambda where, error: None
    given_up: Callable[[Entry], None] | None = None
    elsewhere: Elsewhere | None = None
    given: Pinned = NOTHING
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def cache(self) -> SpeculationCache:
        """Where this run's speculations are."""
        return self.own if self.own is not None else self.shared.cache

    @property
    def budget_scope(self) -> Scope | None:
        """The scope a budget counts: a run's own has the budget of the run."""
        return None if isinstance(self.scope, RunScope) else self.scope

    @property
    def now(self) -> float:
        """Clock seconds."""
        return self.shared.clock()

    def key(self, tool: SearchTool, arguments: Mapping[str, Any], caller: Caller) -> SearchKey:
        """The key of a call by ``caller``.

        Raises:
            UnkeyableError: an argument without a canonical form.
        """
        caller_key = self.caller_key(caller)
        return search_key(tool.identity, tool.complete(arguments), caller_key, self.scope)

    def caller_key(self, caller: Caller) -> Encoded:
        """Equal for callers that no tool could tell apart, and that experiments gave the same."""
        told = caller.key(self.options.ignore_configurable)
        return (told, self.given.key) if self.given.key else told

    def lane(self, tool: SearchTool) -> str:
        """What tells one backend's traffic from another's: the tool's name, so that tools made per request share it."""
        return tool.policy.name

    def void(self, reason: str) -> None:
        """Give up every unclaimed result of this run's scope."""
        if self.elsewhere is not None:
            self.elsewhere.void(self.scope)
        self._void(reason, self.given_up)

    def leave(self) -> None:
        """The run is over: give up what no run that still goes on asked for."""
        self.over.set()
        if self.own is not None:
            self._void("run ended", None)
            return
        if self.watch is not None:
            self.watch.void("run ended")
        for entry in self.cache.take(self._leaves_to_nobody):
            entry.abandon("run ended")

    def _void(self, reason: str, given_up: Callable[[Entry], None] | None) -> None:
        if self.watch is not None:
            self.watch.void(reason)
        for entry in self.cache.void(self.scope):
            if given_up is not None and entry.state is FlightState.READY:
                given_up(entry)
            entry.abandon(reason)

    def _leaves_to_nobody(self, entry: Entry) -> bool:
        """No longer one of those that asked for it; True if it is under way and none is left."""
        if entry.state not in (FlightState.QUEUED, FlightState.RUNNING):
            return False
        entry.runs.discard(self.run_id)
        return not entry.runs
