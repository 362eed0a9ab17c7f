"""Wires the two rooms together: what the model is about to search for, and running it early. Owns the life cycle."""

from __future__ import annotations

import dataclasses
import itertools
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from langgraph_prefetch.config import PrefetchOptions
from langgraph_prefetch.events import EventHub, EventSink, RunStarted, Trouble, VariantAssigned
from langgraph_prefetch.experiments import Assignment
from langgraph_prefetch.intent.cues import CueSet, default_cues
from langgraph_prefetch.intent.reader import IntentSettings
from langgraph_prefetch.keys import RunScope, SharedScope, shared_scope
from langgraph_prefetch.live_variants import LiveVariants, pin
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.near.binomial import interval
from langgraph_prefetch.observe.recording import MAX_EVENTS, Recording
from langgraph_prefetch.observe.unclaimed import UnclaimedCall, UnclaimedLedger
from langgraph_prefetch.ports import SearchTool
from langgraph_prefetch.prefetcher.nearness import Nearness, NearRun
from langgraph_prefetch.prefetcher.open_runs import OpenRuns
from langgraph_prefetch.prefetcher.run import Run, end_session, query_of
from langgraph_prefetch.query_hash import query_hash
from langgraph_prefetch.report import PriceList, Report, Tally
from langgraph_prefetch.speculation.cache import Entry, SpeculationCache
from langgraph_prefetch.speculation.earlier_results import EarlierResults
from langgraph_prefetch.speculation.elsewhere import Elsewhere
from langgraph_prefetch.speculation.experience import Experience
from langgraph_prefetch.speculation.latency import TypicalSeconds
from langgraph_prefetch.speculation.session import MAX_RUN_ENTRIES, Session
from langgraph_prefetch.speculation.shared import Shared, process_wide
from langgraph_prefetch.speculation.watching import Watch

logger = logging.getLogger("langgraph_prefetch")

OFF_SWITCH = "LANGGRAPH_PREFETCH"
"""Environment variable; ``off`` stops every prefetcher of the process from starting anything."""

MAX_REASONS = 20

_run_numbers = itertools.count(1)

default_cues()  # read now: the first engine may be made inside an event loop, where reading files would block


class PrefetchEngine:
    """Everything behind the ways in. Safe for any number of concurrent runs.

    Args:
        options: see :class:`~langgraph_prefetch.config.PrefetchOptions`.
        cues: the language of intent; the cues that come with the package if None.
        shared: executor, ledger and shared cache; the process-wide ones if None.
        sealed: start exact calls from closed arguments; switched off only to measure reasoning alone.
    """

    def __init__(
        self,
        options: PrefetchOptions,
        *,
        cues: CueSet | None = None,
        shared: Shared | None = None,
        sealed: bool = True,
    ) -> None:
        self.options = options
        self.events = EventHub()
        self.tools: dict[str, SearchTool] = {}
        self.refusals: dict[str, str] = {}
        self.agent_tools: frozenset[str] = frozenset()
        self._tally = Tally()
        self._recording: Recording | None = None
        self._unclaimed = UnclaimedLedger()
        self.events.subscribe(self._tally)
        self.events.subscribe(self._unclaimed)
        self._shared = shared
        self._typical = TypicalSeconds()
        self._gate = Experience() if options.value_of_second is not None or options.dry_run else None
        self.earlier = EarlierResults() if options.serve == "verified" else None
        self._elsewhere = _elsewhere(options)
        self.near: Nearness | None = None
        self.variant: tuple[LiveVariants[Any], str] | None = None
        self._paused = False
        self._runs = OpenRuns()
        self._warned: set[str] = set()
        self._left_plain: dict[str, None] = {}
        self._lock = ForkSafeLock()
        settings = IntentSettings(
            max_guesses=options.budgets.guesses_per_step,
            cues=cues if cues is not None else default_cues(),
            sealed=sealed,
            textual=sealed,
        )
        if options.threshold is not None:
            settings = dataclasses.replace(settings, threshold=options.threshold)
        self.intent = settings

    @property
    def shared(self) -> Shared:
        """Executor, ledger and shared cache in use."""
        return self._shared if self._shared is not None else process_wide()

    @property
    def enabled(self) -> bool:
        """False after :meth:`pause` or where the environment's off switch is set."""
        return not self._paused and os.environ.get(OFF_SWITCH, "").lower() not in ("off", "0", "false")

    def pause(self) -> None:
        """The kill switch: start nothing more and give up what is under way. Calls are run by their tools."""
        self._paused = True
        for run in self._runs.all():
            run.give_up("paused")

    def resume(self) -> None:
        """Start speculations again."""
        self._paused = False

    def close(self) -> None:
        """End every run that is still listened to. Idempotent; the prefetcher may be used again afterwards."""
        for run in self._runs.all():
            run.close()

    def subscribe(self, sink: EventSink) -> Callable[[], None]:
        """Send every event to ``sink`` as well; the returned function stops that."""
        return self.events.subscribe(sink)

    def record(self, *, max_events: int = MAX_EVENTS) -> Recording:
        """Keep the latest events from now on, to draw a timeline of: see :meth:`Recording.timeline`.

        It ends with ``stop()``, at the end of a ``with`` block, or when the next recording begins.

        Raises:
            ConfigurationError: ``max_events`` is below 1.
        """
        recording = Recording(max_events=max_events)
        with self._lock:
            before, self._recording = self._recording, recording
        if before is not None:
            before.stop()
        return recording.subscribed(self.events.subscribe(recording))

    def report(self) -> Report:
        """What happened so far, in numbers that add up."""
        for run in self._runs.all():
            run.catch_up()
        report = self._tally.report(
            tuple(sorted(self.refusals.items())),
            left_plain=self.left_plain,
            recording=self._recording,
            price_list=self._price_list(),
        )
        wrong = interval(report.near_audited_wrong, report.near_audited)
        return dataclasses.replace(report, near_wrong_low=wrong.low, near_wrong_high=wrong.high)

    def _price_list(self) -> PriceList | None:
        value = self.options.value_of_second
        if value is None:
            return None
        prices = {name: tool.policy.price_in(value) for name, tool in self.tools.items()}
        token = self.options.next_calls.token_price
        return PriceList(
            unit=value.unit, value_of_second=value.amount, prices=prices, token=token.amount if token else 0.0
        )

    def unclaimed(self) -> tuple[UnclaimedCall, ...]:
        """The latest thousand calls that were started early and answered no real call, oldest first."""
        return self._unclaimed.rows()

    def query_hash(self, query: str) -> str:
        """What stands for ``query`` in events and in :meth:`unclaimed`: a hash that only this process can make."""
        return query_hash(query)

    def open_run(self, configurable: Mapping[str, Any] | None = None) -> Run:
        """Begin to listen to one agent run. ``configurable``: the run's own trusted configuration."""
        shared = self.shared
        run_id = f"{os.getpid():x}-{next(_run_numbers)}"
        given = pin(configurable or {}, self.variant)
        scope = self._scope(configurable or {})
        thread_id = (configurable or {}).get("thread_id")
        session = Session(
            run_id=run_id,
            scope=scope or RunScope(run_id),
            options=self.options,
            shared=shared,
            events=self.events,
            typical=self._typical,
            thread_id=str(thread_id) if thread_id is not None else None,
            own=SpeculationCache(MAX_RUN_ENTRIES, shared.clock) if scope is None else None,
            gate=self._gate,
            watch=Watch(self._gate) if self._gate is not None else None,
            trouble=self.trouble,
            given_up=self._given_up if self.earlier is not None else None,
            given=given,
            elsewhere=self._elsewhere,
        )
        near = self.near.begin(session) if self.near is not None else None
        run = Run(self, session, near)
        self.events(RunStarted(run_id=run_id, at=shared.clock()))
        for each in given.assignments:
            self.events(assigned(each, run_id, shared.clock()))
        self._runs.add(run, lambda: self._end_lost(session, near))
        return run

    def closed(self, run: Run) -> None:
        """Told by a run that is over."""
        self._runs.remove(run.id)
        if self.earlier is not None:
            self.earlier.forget(RunScope(run.id))

    def _end_lost(self, session: Session, near: NearRun | None) -> None:
        if near is not None:
            near.end()
        end_session(session, idle=False)
        if self.earlier is not None:
            self.earlier.forget(RunScope(session.run_id))

    def _given_up(self, entry: Entry) -> None:
        """What is no longer an answer may still be a guess."""
        output, speculation = entry.flight.output, entry.speculation
        tool = self.named(speculation.tool) if speculation is not None else None
        if self.earlier is not None and output is not None and speculation is not None and tool is not None:
            query = query_of(tool, speculation.arguments)
            self.earlier.keep(entry.key, speculation.arguments, query, output)

    def agent_has(self, names: Iterable[str]) -> None:
        """The agent's tools, prefetched or not: without one for looking things up, "look up" means a search."""
        self.agent_tools |= frozenset(names)

    def named(self, name: str) -> SearchTool | None:
        """The named tool, if it may be run early."""
        return self.tools.get(name)

    def named_loosely(self, name: str) -> SearchTool | None:
        """The named tool in a textual action, where case is not kept."""
        return next((tool for each, tool in self.tools.items() if each.casefold() == name.casefold()), None)

    def trouble(self, where: str, error: BaseException) -> None:
        """Something of ours failed: count it, say it once per kind, go on."""
        self.events(Trouble(at=self.shared.clock(), where=where, error=type(error).__name__))
        self.warn_once(f"{where}: {type(error).__name__}", "prefetch failed in %s (%s); the agent goes on without it")

    def warn_once(self, key: str, message: str) -> None:
        """Log ``message`` (a ``%s`` in it takes the parts of ``key``) the first time ``key`` is given."""
        with self._lock:
            if key in self._warned or len(self._warned) > 100:
                return
            self._warned.add(key)
        logger.warning(message, *key.split(": ")[: message.count("%s")])

    @property
    def left_plain(self) -> tuple[str, ...]:
        """Why ``force_streaming="auto"`` did not make a model stream; said where a run stays idle."""
        return tuple(self._left_plain)

    def leave_plain(self, reason: str) -> None:
        """A model was not made to stream, for ``reason``."""
        if len(self._left_plain) < MAX_REASONS:
            self._left_plain[reason] = None

    def refuse(self, tool: str, reason: str) -> None:
        """The tool is never run early, for ``reason``; it works as before."""
        self.tools.pop(tool, None)
        if tool not in self.refusals:
            self.refusals[tool] = reason
            logger.warning("tool %r is not prefetched: %s", tool, reason)

    def _scope(self, configurable: Mapping[str, Any]) -> SharedScope | None:
        if self.options.scope is None:
            return None
        try:
            value = self.options.scope(configurable)
            hash(value)
        except Exception as error:  # noqa: BLE001 - a scope that cannot be told shares nothing
            self.trouble("scope", error)
            return None
        return None if value is None else shared_scope(value)


def _elsewhere(options: PrefetchOptions) -> Elsewhere | None:
    if options.cache is None:
        return None
    return Elsewhere(
        cache=options.cache,
        queue=options.executor,
        keep_seconds=options.reuse_seconds or options.max_age_seconds,
        shares=options.reuse_seconds is not None,
    )


def assigned(given: Assignment, run_id: str, at: float) -> VariantAssigned:
    """What says so in the events, without the key."""
    unit = query_hash(given.key) if given.key is not None else None
    return VariantAssigned(run_id=run_id, at=at, experiment=given.experiment, variant=given.variant, unit=unit)
