"""One agent run's near misses, and one model call's."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextvars import Context
from typing import TYPE_CHECKING, Any

from langgraph_prefetch.graph.caller import GraphCaller, running_loop, speculative_context
from langgraph_prefetch.graph.near.call import NearCall
from langgraph_prefetch.graph.near.fetching import Fetching
from langgraph_prefetch.graph.near.sources import fetcher_of
from langgraph_prefetch.graph.near.view import View
from langgraph_prefetch.graph.near.viewed import Viewed
from langgraph_prefetch.graph.said import Listening
from langgraph_prefetch.keys import Encoded
from langgraph_prefetch.ports import Caller, SearchTool
from langgraph_prefetch.prefetcher.step import Told
from langgraph_prefetch.speculation.flight import Flight
from langgraph_prefetch.speculation.session import Session
from langgraph_prefetch.speculative import speculating
from langgraph_prefetch.values import Delta, Guess, SealedCall, Signal, ToolCallDelta

if TYPE_CHECKING:
    from langgraph_prefetch.graph.near.misses import NearMisses

MAX_VIEWS = 8
"""Of one run: tools, times callers, of whom a run has one as a rule."""
THREAD = "thread_id"
"""Under ``configurable``: the conversation's name, which decides nothing about what a tool is."""


class RunNear:
    """A :class:`~langgraph_prefetch.prefetcher.nearness.NearRun`. Safe for threads.

    Args:
        misses: what all runs share.
        session: the run's parts.
    """

    def __init__(self, misses: NearMisses, session: Session) -> None:
        self.misses, self.session = misses, session
        self._lock = threading.Lock()
        self._viewed: OrderedDict[tuple[str, Hashable, Encoded], Viewed] = OrderedDict()
        self._flights: set[Flight] = set()
        self._fetched = 0
        self._over = False

    @property
    def is_over(self) -> bool:
        """Nothing is started any more."""
        return self._over or not self.misses.engine.enabled

    def begin_step(self, number: int, told: Told, caller: Caller) -> StepNear | None:
        """A model call begins, in whose context this is called."""
        graph_caller = caller if isinstance(caller, GraphCaller) else GraphCaller.ambient()
        fetching = []
        for view in self.misses.views.values():
            viewed = self._viewed_for(view, caller)
            if viewed is not None and not self.misses.closed(viewed):
                context = background_context(graph_caller)
                fetching.append(Fetching(self, viewed, number, told, context, graph_caller.loop))
        return StepNear(fetching, self) if fetching and not self.is_over else None

    def nearby(self, tool: SearchTool, arguments: Mapping[str, Any], caller: Caller, step: int) -> NearCall | None:
        """What is near a real call."""
        view = self.misses.views.get(tool.policy.name)
        query = view.query_of(tool, arguments) if view is not None else None
        if view is None or query is None or self.is_over:
            return None
        with self._lock:
            viewed = self._viewed.get(self._key(view, caller))
        if viewed is None or self.misses.closed(viewed):
            return None
        graph_caller = caller if isinstance(caller, GraphCaller) else GraphCaller.ambient()
        return NearCall(self, viewed, tool, query, arguments, graph_caller, graph_caller.loop or running_loop(), step)

    def void(self) -> None:
        """Another tool ran."""
        with self._lock:
            viewed = tuple(self._viewed.values())
        for each in viewed:
            each.void()

    def end(self) -> None:
        """The run is over, or was paused."""
        self._over = True
        with self._lock:
            flights, self._flights = self._flights, set()
        for flight in flights:
            flight.cancel()

    # --- for its parts

    def flies(self, flight: Flight) -> None:
        """A fetch is under way."""
        with self._lock:
            self._flights.add(flight)
        flight.on_end(self._landed)
        if self._over:
            flight.cancel()

    def _landed(self, flight: Flight) -> None:
        with self._lock:
            self._flights.discard(flight)

    def admit(self) -> str | None:
        """Count one more fetch, unless a budget is used up; then its name."""
        budgets = self.session.options.budgets
        with self._lock:
            if self._fetched >= budgets.neighbourhoods_per_run:
                return "neighbourhoods_per_run"
            self._fetched += 1
        used_up = self.session.shared.ledger.admit(
            self.session.budget_scope, budgets.per_scope_per_minute, budgets.per_process_per_minute
        )
        if used_up:
            self._fetched -= 1
        return used_up

    def withdraw(self) -> None:
        """A fetch that was counted was not made."""
        with self._lock:
            self._fetched -= 1
        self.session.shared.ledger.withdraw(self.session.budget_scope)

    def closed(self, viewed: Viewed) -> str | None:
        """Why nothing more is fetched."""
        return "closed" if self.misses.closed(viewed) else None

    def close_tool(self, name: str, reason: str) -> None:
        """See :class:`NearMisses`."""
        self.misses.close_tool(name, reason)

    def check_once(self, viewed: Viewed, check: Callable[[], None]) -> None:
        """See :class:`NearMisses`."""
        self.misses.check_once(viewed, check)

    def check_soon(self, viewed: Viewed, check: Callable[[], None], context: Context) -> None:
        """See :class:`NearMisses`."""
        self.misses.check_soon(viewed, check, context)

    def _key(self, view: View, caller: Caller) -> tuple[str, Hashable, Encoded]:
        return view.name, view.tool.identity, self.session.caller_key(caller)

    def _viewed_for(self, view: View, caller: Caller) -> Viewed | None:
        key = self._key(view, caller)
        with self._lock:
            found = self._viewed.get(key)
        if found is not None:
            return found
        near = view.near
        source: Any = near.source if near.fixed_source is not None else _selected(near.source, caller)
        if source is None:
            return None
        ignored = (*self.session.options.ignore_configurable, THREAD)
        scope = self.session.budget_scope
        new = Viewed(
            view,
            fetcher_of(source, near, view.embeddings),
            self.misses.controls[view.name],
            scope,
            (view.name, scope, (caller.key(ignored), self.session.given.key)),
            self.session.options.max_age_seconds,
        )
        with self._lock:
            found = self._viewed.setdefault(key, new)
            if len(self._viewed) > MAX_VIEWS:
                self._viewed.popitem(last=False)
        return found


class StepNear:
    """A :class:`~langgraph_prefetch.prefetcher.nearness.NearStep`: the fetches of one model call for every view."""

    def __init__(self, fetching: list[Fetching], near: RunNear) -> None:
        self._fetching, self._near = fetching, near

    def begin(self) -> None:
        """Before its first word."""
        self._each(lambda each: each.begin())

    def hear(self, delta: Delta) -> None:
        """A piece of its stream: the thought goes on, or ends with the first piece of a call."""
        if isinstance(delta, ToolCallDelta):
            self._each(lambda each: each.finish())
        else:
            self._each(lambda each: each.read(delta.text))

    def take(self, signals: Iterable[Signal]) -> None:
        """What its text makes likely."""
        for signal in signals:
            match signal:
                case Guess(query=query):
                    self._each(lambda each, query=query: each.guessed(query))  # type: ignore[misc]
                case SealedCall():
                    self._each(lambda each, signal=signal: _sealed(each, signal))  # type: ignore[misc]

    def finish(self) -> None:
        """It is over."""
        self._each(lambda each: each.finish())

    def _each(self, act: Callable[[Fetching], None]) -> None:
        for each in self._fetching:
            try:
                act(each)
            except Exception as error:  # noqa: BLE001 - a failure of ours is a miss
                self._near.session.trouble("near", error)


def _sealed(fetching: Fetching, call: SealedCall) -> None:
    """The thought is over, and the query known."""
    view = fetching.viewed.view
    query = call.arguments.get(view.argument)
    if call.tool.casefold() == view.name.casefold() and isinstance(query, str) and not call.textual:
        fetching.embed_soon(query)
    fetching.finish()


def background_context(caller: GraphCaller) -> Context:
    """A copy of the present context for embedders and sources: with the user's configuration, and nobody listening."""
    context = speculative_context(caller.speculative_config(Listening()))
    context.run(speculating.set, True)
    return context


def _selected(source: Any, caller: Caller) -> Any:
    return source(caller.configurable)
