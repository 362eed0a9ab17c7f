"""One agent run, from its first token to its end."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from langgraph_prefetch.errors import UnkeyableError
from langgraph_prefetch.events import RunEnded, StepStarted
from langgraph_prefetch.intent.reader import IntentContext, IntentReader
from langgraph_prefetch.keys import encode_arguments
from langgraph_prefetch.ports import Caller, SearchTool
from langgraph_prefetch.prefetcher.nearness import NearRun
from langgraph_prefetch.prefetcher.step import Step, Told
from langgraph_prefetch.speculation.cache import snapshot
from langgraph_prefetch.speculation.call import SearchCall
from langgraph_prefetch.speculation.freshness import freshness_of
from langgraph_prefetch.speculation.launch import ACTION, Wish, launch
from langgraph_prefetch.speculation.outbound import needs_origin
from langgraph_prefetch.speculation.scheduler import Spent
from langgraph_prefetch.speculation.session import Session
from langgraph_prefetch.values import Delta, Guess, Output, SealedCall, Signal, Source

if TYPE_CHECKING:
    from langgraph_prefetch.prefetcher.engine import PrefetchEngine

MAX_OPEN_STEPS = 32
MAX_EARLIER_QUERIES = 32

IDLE_ADVICE = (
    "idle: no tokens seen, so nothing could be prefetched. The model did not stream: call the agent with "
    'stream()/astream(), or set force_streaming=True ("auto" turns streaming on only for models whose streamed '
    "message is known to equal the other)"
)


class Run:
    """One agent run. Model calls may overlap; each is fed by one thread at a time.

    Args:
        engine: what all runs of a wrapped graph share.
        session: what the speculation room needs to know of this run.
        near: its near misses, where any are answered.

    Attributes:
        at_end: called with the reason when the run is over or its prefetches are given up. They must not raise.
        kept: what others keep for as long as the run is there, by who keeps it.
    """

    def __init__(self, engine: PrefetchEngine, session: Session, near: NearRun | None = None) -> None:
        self.id = session.run_id
        self._engine, self._session, self._near = engine, session, near
        self._lock = threading.Lock()
        self._steps: OrderedDict[Hashable, Step] = OrderedDict()
        self._count = self._ended = self._started = 0
        self._spoke = False
        self._latest: Step | None = None
        self._launching = threading.RLock()
        self._earlier: OrderedDict[str, set[str]] = OrderedDict()
        self._answered: dict[Hashable, Output] = {}
        self._touched: dict[Hashable, str] = {}
        self._interrupted = self._closed = False
        self.at_end: list[Callable[[str], None]] = []
        self.kept: dict[object, Any] = {}

    def begin_step(
        self,
        model_call: Hashable,
        question: str = "",
        results: tuple[str, ...] = (),
        caller: Callable[[], Caller] | None = None,
    ) -> Step:
        """A model call begins: the user's latest text, what tools have answered, and who would call in this context."""
        self._void_touched()
        now = self._session.now
        with self._lock:
            self._count += 1
            number = self._count
            tools, told = tuple(self._engine.agent_tools), Told(question=question, results=results)
            context = IntentContext(question=question, earlier_queries=self._habit(), tools=tools)
            step = Step(number, IntentReader(self._engine.intent, context), now, told)
            self._steps[model_call] = self._latest = step
            if len(self._steps) > MAX_OPEN_STEPS:  # calls whose end never came
                self._spoke |= self._steps.popitem(last=False)[1].has_spoken
        self._session.events(StepStarted(run_id=self.id, step=number, at=now))
        if caller is not None:
            self._begin_near(step, caller)
        return step

    def _begin_near(self, step: Step, caller: Callable[[], Caller]) -> None:
        if self._near is None or not self._engine.enabled:
            return
        try:
            step.near = self._near.begin_step(step.number, step.told, caller())
        except Exception as error:  # noqa: BLE001 - a failure of ours, or of the user's choice of a source, is a miss
            self._engine.trouble("near", error)
        if step.near is not None:
            self._session.shared.reading.soon(step.near.begin)

    def hear(self, model_call: Hashable, deltas: Iterable[Delta], caller: Callable[[], Caller]) -> None:
        """Take in pieces of a model call's stream; they are read beside it, and what they make likely is started."""
        step = self._steps.get(model_call)
        if step is None or self._closed:
            return
        if step.context is None:
            step.context = copy_context()
        step.inbox.append((tuple(deltas), self._session.now, caller))
        if not step.is_due:
            step.is_due = True
            self._session.shared.reading.soon(partial(self._read, step))

    def _read(self, step: Step) -> None:
        """Read what a model call has said and nobody has read yet. Never raises."""
        with step.reading:
            step.is_due = False
            while step.inbox:
                deltas, at, step.caller = step.inbox.popleft()
                try:
                    for delta in deltas:
                        step.note(delta, at)
                        if step.near is not None and not self._closed:
                            step.near.hear(delta)
                        if not self._closed and (signals := step.reader.feed(delta)):
                            self._act(step, signals, at)
                except Exception as error:  # noqa: BLE001 - a failure of ours is a miss
                    self._engine.trouble("token", error)

    def catch_up(self) -> None:
        """Read all that has been said: what comes next depends on what it started."""
        for step in tuple(self._steps.values()):
            if step.is_due or step.inbox:
                self._read(step)

    def end_step(self, model_call: Hashable) -> None:
        """The model call ended."""
        self._end(model_call, failed=False)

    def drop_step(self, model_call: Hashable) -> None:
        """The model call failed: what it had made certain stands, what only its end would have is forgotten."""
        self._end(model_call, failed=True)

    def _end(self, model_call: Hashable, *, failed: bool) -> None:
        with self._lock:
            step = self._steps.pop(model_call, None)
            self._spoke |= step is not None and step.has_spoken
            self._ended += step is not None and not failed
        if step is None:
            return
        self._read(step)
        if not failed and step.heard and (signals := step.reader.finish()):
            self._act(step, signals, self._session.now)
        if not failed and step.near is not None and not self._closed:
            step.near.finish()
        self._session.events(step.ended(self.id, self._session.now))

    @property
    def engine(self) -> PrefetchEngine:
        """What opened it."""
        return self._engine

    @property
    def session(self) -> Session:
        """Its parts."""
        return self._session

    @property
    def step(self) -> int:
        """The number of the latest model call; 0 before the first."""
        return self._count

    @property
    def is_over(self) -> bool:
        """True once it was closed."""
        return self._closed

    @property
    def heard_latest(self) -> bool:
        """True if the latest model call streamed anything."""
        return self._latest is not None and self._latest.has_spoken

    def call(
        self,
        tool: SearchTool,
        arguments: Mapping[str, Any],
        call_id: str | None,
        caller: Caller,
        batch: Hashable | None = None,
    ) -> SearchCall | None:
        """A real call of a named tool arrived; None if its arguments cannot be keyed (then simply run it).

        ``batch`` names the calls that run at the same time as this one; None if it runs alone.
        """
        self.catch_up()
        self._void_touched(but=batch)
        try:
            key = self._session.key(tool, arguments, caller)
        except (UnkeyableError, RecursionError):
            return None
        query = query_of(tool, arguments)
        now = self._session.now
        step, readable = self._latest, None
        if step is not None:
            readable = step.readable_at(tool.policy.name, encode_arguments(dict(arguments)), query)
        if query is not None:
            with self._lock:
                self._earlier.setdefault(query, set()).add(tool.policy.name)
                if len(self._earlier) > MAX_EARLIER_QUERIES:
                    self._earlier.popitem(last=False)
        number, readable = step.number if step is not None else 0, now if readable is None else readable
        freshness = freshness_of(tool, caller, self._session.trouble)
        nearby = self._near.nearby(tool, arguments, caller, number) if self._near is not None else None
        return SearchCall(self._session, tool, key, arguments, call_id, number, readable, freshness, nearby)

    def other_tool(self, name: str, batch: Hashable | None = None) -> None:
        """Another tool starts or ends: what was read before may no longer be what a search would return.

        But for a search of the same ``batch``: those run side by side, and either may be the first to read or write.
        Results that other runs may be given are void at once.
        """
        self.catch_up()
        if batch is None or self._session.own is None:
            self._void(f"tool {name} ran")
        else:
            with self._lock:
                self._touched[batch] = name

    def _void_touched(self, but: Hashable | None = None) -> None:
        if not self._touched:
            return
        with self._lock:
            names = [name for batch, name in self._touched.items() if batch != but]
            self._touched = {batch: name for batch, name in self._touched.items() if batch == but}
        if names:
            self._void(f"tool {names[0]} ran")

    def _void(self, reason: str) -> None:
        self._session.void(reason)
        if self._near is not None:
            self._near.void()

    def answered(self, call: SearchCall, output: Output) -> None:
        """Remember a call's answer until its tool node ends, in case the node is interrupted and runs again."""
        if call.resumable_key is None or (kept := snapshot(output)) is None:
            return
        if self._interrupted:  # by a sibling, which did not wait for this call
            self._session.shared.resumable.keep(call.resumable_key, kept)
        self._answered[call.resumable_key] = kept

    def node_ended(self, *, interrupted: bool) -> None:
        """A tool node ended; if it was interrupted, the same call ids will come again on resume."""
        answered, self._answered = self._answered, {}
        if not interrupted:
            return
        self._interrupted = True
        for key, output in answered.items():
            self._session.shared.resumable.keep(key, output)

    def give_up(self, reason: str) -> None:
        """Cancel what is under way and forget what is ready."""
        self._session.void(reason)
        self._part(reason)

    def close(self) -> None:
        """The run is over. Idempotent."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            spoke = self._spoke or any(step.has_spoken for step in self._steps.values())
            self._steps.clear()
        idle = self._ended > 0 and not spoke  # one that was cut off before its first token may have been about to speak
        if idle and self._engine.enabled and self._engine.tools:
            self._engine.warn_once("idle", " ".join((IDLE_ADVICE, *self._engine.left_plain)))
        self._engine.closed(self)
        self._part("run ended")
        end_session(self._session, idle=idle)

    def _part(self, reason: str) -> None:
        if self._near is not None:
            self._near.end()
        for each in tuple(self.at_end):
            each(reason)

    def _act(self, step: Step, signals: Sequence[Signal], at: float) -> None:
        """Start what ``signals``, heard at ``at``, ask for, in the context in which the model speaks."""
        if step.near is not None:
            step.near.take(signals)
        if step.context is not None and step.caller is not None and self._engine.enabled:
            step.context.copy().run(self._start, step, signals, step.caller, at)

    def _start(self, step: Step, signals: Iterable[Signal], caller: Callable[[], Caller], at: float) -> None:
        for signal in signals:
            wish = self._wish(step, signal)
            if wish is None:
                continue
            if needs_origin(wish.tool.policy, wish.source, textual=wish.textual) and step.told.planted(wish.query):
                wish = replace(wish, planted=True)
            if wish.source is Source.SEALED:
                step.note_sealed(wish.tool.policy.name, encode_arguments(dict(wish.arguments)), at)
            # Looking at the budgets and starting is one step, or model calls at the same time could exceed them.
            with self._launching:
                if launch(self._session, wish, caller(), self._spent(step)):
                    self._count_start(step, wish.source)
        # Ended or paused in the meantime: what was started since then has nobody.
        if self._closed:
            self._session.leave()
        elif not self._engine.enabled:
            self.give_up("paused")

    def _takes_guesses(self) -> SearchTool | None:
        """Guesses are for the tool named first that takes them; a call of another shows in its sealed arguments."""
        return next((each for each in self._engine.tools.values() if each.policy.guess), None)

    def _habit(self) -> tuple[str, ...]:
        """The run's queries so far. One may be guessed again, so a third party's are only those that it was asked."""
        tool = self._takes_guesses()
        if tool is None or tool.policy.destination == "own_store":
            return tuple(self._earlier)
        return tuple(query for query, asked in self._earlier.items() if tool.policy.name in asked)

    def _wish(self, step: Step, signal: Signal) -> Wish | None:
        match signal:
            case Guess():
                tool = self._takes_guesses()
                return _wish(tool, signal.query, Source.REASONING, signal.probability, signal.cue, step, signal.kind)
            case SealedCall(textual=True, arguments={"query": str(bare), **others}) if not others:
                tool = self._engine.named_loosely(signal.tool)
                return _wish(tool, bare, Source.SEALED, 1.0, ACTION, step)
            case SealedCall():
                named = (self._engine.named_loosely if signal.textual else self._engine.named)(signal.tool)
                if named is None:
                    return None
                query = query_of(named, signal.arguments) or ""
                return Wish(
                    tool=named,
                    arguments=signal.arguments,
                    source=Source.SEALED,
                    probability=1.0,
                    cue=ACTION if signal.textual else "call",
                    step=step.number,
                    query=query,
                )

    def _spent(self, step: Step) -> Spent:
        in_scope, in_process = self._session.shared.ledger.counts(self._session.budget_scope)
        return Spent(
            guesses_in_step=step.guesses,
            sealed_in_step=step.sealed,
            in_run=self._started,
            in_scope=in_scope,
            in_process=in_process,
        )

    def _count_start(self, step: Step, source: Source) -> None:
        self._started += 1
        if source is Source.SEALED:
            step.sealed += 1
        else:
            step.guesses += 1


def end_session(session: Session, *, idle: bool) -> None:
    """A run is over: give up what it left behind, and say so."""
    session.leave()
    session.events(RunEnded(run_id=session.run_id, at=session.now, idle=idle))


def _wish(
    tool: SearchTool | None, query: str, source: Source, probability: float, cue: str, step: Step, kind: str = ""
) -> Wish | None:
    arguments = tool.arguments_for(query) if tool is not None else None
    if tool is None or arguments is None:
        return None
    return Wish(
        tool=tool,
        arguments=arguments,
        source=source,
        probability=probability,
        cue=cue,
        step=step.number,
        query=query,
        kind=kind,
    )


def query_of(tool: SearchTool, arguments: Mapping[str, Any]) -> str | None:
    """The text in a call that a guess would have had to find: its only, or its longest, string argument."""
    name = tool.policy.query_argument
    if name is not None and isinstance(arguments.get(name), str):
        return str(arguments[name])
    texts = [value for value in arguments.values() if isinstance(value, str)]
    return max(texts, key=len) if texts else None
