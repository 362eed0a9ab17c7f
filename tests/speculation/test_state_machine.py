"""Everything that can happen to speculations, in any order, against a dictionary that says what must come of it."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from langgraph_prefetch.config import Budgets, ExecutorLimits
from langgraph_prefetch.events import Fate, SearchCallAnswered, SpeculationEnded, SpeculationStarted
from langgraph_prefetch.prefetcher import Run
from langgraph_prefetch.speculation.cache import FAILED_SECONDS
from langgraph_prefetch.speculation.call import SearchCall
from langgraph_prefetch.testing.search import PlainCaller
from langgraph_prefetch.values import Output
from tests.speculation.rig import Rig, begin, guess, seal

BUDGETS = Budgets(guesses_per_step=3, sealed_per_step=3, per_run=6, per_scope_per_minute=8, per_process_per_minute=12)
LIMITS = ExecutorLimits(max_running=3, max_queued=2)
MAX_AGE, MAX_WAIT, REUSE = 50.0, 8.0, 20.0
QUERIES = st.sampled_from("abc")
USERS = st.sampled_from(("u1", "u2"))


@dataclass(eq=False)
class OpenRun:
    """What the model knows of a run."""

    run: Run
    scope: str
    started: int = 0
    guesses: int = 0
    sealed: int = 0
    steps: int = 1
    closed: bool = False


@dataclass(eq=False)
class Waiting:
    """A call whose caller waits."""

    owner: OpenRun
    call: SearchCall
    query: str
    user: str
    task: "asyncio.Task[Output | None]"


@dataclass
class Expected:
    """The entry that must stand under a key: by when it is gone, and how it stands."""

    state: str
    until: float
    runs: set[str] = field(default_factory=set)


class Speculations(RuleBasedStateMachine):
    """Without reuse: an entry answers one call."""

    reuse: float | None = None
    runs: Bundle[OpenRun] = Bundle("runs")
    waiting: Bundle[Waiting] = Bundle("waiting")

    def __init__(self) -> None:
        super().__init__()
        self.rig = Rig(
            limits=LIMITS,
            budgets=BUDGETS,
            scope=lambda configurable: configurable.get("tenant"),
            max_age_seconds=MAX_AGE,
            max_wait_seconds=MAX_WAIT,
            reuse_seconds=self.reuse,
        )
        self.expected: dict[tuple[str, str, str], Expected] = {}
        self.minutes: list[tuple[float, str]] = []
        self.served: list[Any] = []
        self.open: list[OpenRun] = []
        self.all: list[OpenRun] = []
        self.calls: list[Waiting] = []
        self.serial = 0
        self.paused = False

    # ---- the dictionary

    def key(self, owner: OpenRun, query: str, user: str) -> tuple[str, str, str]:
        return owner.scope, query, user

    def entry(self, key: tuple[str, str, str]) -> Expected | None:
        """What must stand under the key now; the state of one under way is the executor's affair."""
        found = self.expected.get(key)
        if found is not None and found.until <= self.rig.clock():
            del self.expected[key]
            return None
        return found

    def may_start(self, owner: OpenRun, *, sealed: bool) -> bool:
        recent = [scope for at, scope in self.minutes if at > self.rig.clock() - 60]
        shared = owner.scope.startswith("tenant")
        return (
            (owner.sealed < BUDGETS.sealed_per_step if sealed else owner.guesses < BUDGETS.guesses_per_step)
            and owner.started < BUDGETS.per_run
            and (not shared or recent.count(owner.scope) < BUDGETS.per_scope_per_minute)
            and len(recent) < BUDGETS.per_process_per_minute
        )

    # ---- what can happen

    @initialize(target=runs, tenant=st.sampled_from((None, "a")))
    def first_run(self, tenant: str | None) -> OpenRun:
        return self.open_run(tenant)

    @precondition(lambda self: len(self.open) < 6)
    @rule(target=runs, tenant=st.sampled_from((None, "a", "b")))
    def another_run(self, tenant: str | None) -> OpenRun:
        return self.open_run(tenant)

    def open_run(self, tenant: str | None) -> OpenRun:
        run = self.rig.run(**({} if tenant is None else {"tenant": tenant}))
        opened = OpenRun(run, f"run {run.id}" if tenant is None else f"tenant {tenant}")
        self.open.append(opened)
        self.all.append(opened)
        return opened

    @rule(owner=runs)
    def next_step(self, owner: OpenRun) -> None:
        begin(owner.run, str(owner.steps))
        owner.steps += 1
        owner.guesses = owner.sealed = 0

    @rule(owner=runs, query=QUERIES, user=USERS, sealed=st.booleans())
    def signal(self, owner: OpenRun, query: str, user: str, sealed: bool) -> None:
        key, before = self.key(owner, query, user), len(self.started())
        found, may = self.entry(key), self.may_start(owner, sealed=sealed)
        model_call = "model call" if owner.steps == 1 else str(owner.steps - 1)
        (seal if sealed else guess)(owner.run, query, PlainCaller({"user": user}), model_call)
        started = self.started()[before:]
        rejected = bool(self.rig.events) and getattr(self.rig.events[-1], "reason", "").startswith("rejected")
        if owner.closed or self.paused:
            assert not started
        elif found is not None and found.state != "failed":
            assert not started, "joined, not started again"
            found.runs.add(owner.run.id)
        else:
            expected = found is None and may
            assert bool(started) == (expected and not rejected)
            assert not rejected or self.rig.shared.executor.running == LIMITS.max_running
        if started:
            now = self.rig.clock()
            self.minutes.append((now, owner.scope))
            owner.started += 1
            if sealed:
                owner.sealed += 1
            else:
                owner.guesses += 1
            self.expected[key] = Expected("live", now + MAX_AGE, {owner.run.id})
        self.settle()

    @precondition(lambda self: self.rig.search.pending)
    @rule(data=st.data(), how=st.sampled_from(("land", "land", "land", "empty", "fail", "give up")))
    def retrieval_ends(self, data: st.DataObject, how: str) -> None:
        pending = self.rig.search.pending
        arguments, caller, future = pending[data.draw(st.integers(0, len(pending) - 1))]
        self.serial += 1
        if how == "fail":
            future.set_exception(ConnectionError("503"))
        elif how == "give up":
            future.cancel()
        else:
            future.set_result(
                ""
                if how == "empty"
                else [arguments["query"], caller.configurable["user"], f"speculation {self.serial}"]
            )
        self.settle()

    @rule(target=waiting, owner=runs, query=QUERIES, user=USERS)
    def call(self, owner: OpenRun, query: str, user: str) -> Any:
        made = self.rig.call(owner.run, query, user=user)
        found = self.entry(self.key(owner, query, user))
        task = self.rig.loop.create_task(made.aanswer())
        caller = Waiting(owner, made, query, user, task)
        self.rig.loop.settle()
        if found is None:
            assert task.done(), "with nothing there the tool runs at once"
            assert task.result() is None
        if found is not None and found.state == "ready":
            assert task.done(), "what is ready is served at once"
            assert task.result() is not None
        if self.reuse is None:
            self.expected.pop(self.key(owner, query, user), None)
        if task.done():
            self.answered(caller)
            self.settle()
            return multiple()
        self.calls.append(caller)
        self.settle()
        return caller

    @rule(caller=consumes(waiting))
    def caller_gives_up(self, caller: Waiting) -> None:
        if caller in self.calls:
            self.calls.remove(caller)
            caller.task.cancel()
            self.settle()

    @rule(seconds=st.sampled_from((0.1, 1.0, FAILED_SECONDS, 7.0, 15.0, 45.0)))
    def time_passes(self, seconds: float) -> None:
        self.rig.clock.pass_(seconds)
        self.settle()

    @rule(owner=runs)
    def other_tool(self, owner: OpenRun) -> None:
        owner.run.other_tool("write")
        self.forget(lambda key, _: key[0] == owner.scope)
        self.settle()

    @rule(owner=runs)
    def run_ends(self, owner: OpenRun) -> None:
        self.sync()
        owner.run.close()
        owner.closed = True
        if owner in self.open:
            self.open.remove(owner)
        mine = owner.run.id
        for each in self.expected.values():
            each.runs.discard(mine)
        self.forget(lambda key, entry: key[0] == f"run {mine}" or (not entry.runs and entry.state == "live"))
        self.settle()

    @rule(paused=st.booleans())
    def switch(self, paused: bool) -> None:
        if paused:
            self.rig.engine.pause()
            scopes = {each.scope for each in self.open}
            self.forget(lambda key, _: key[0] in scopes)
        else:
            self.rig.engine.resume()
        self.paused = paused
        self.settle()

    # ---- consequences

    def settle(self) -> None:
        """Let the loop do what is due, and follow it."""
        self.rig.loop.settle()
        for caller in [each for each in self.calls if each.task.done()]:
            self.calls.remove(caller)
            self.answered(caller)
        self.rig.loop.settle()
        self.sync()

    def sync(self) -> None:
        """Bring the dictionary up to the retrievals that ended, were given up, or went on."""
        now = self.rig.clock()
        real = {
            (self.scope_of(entry), entry.key.arguments[1][1][1], self.user_of(entry)): entry
            for cache in [self.rig.shared.cache, *(each.run._session.own for each in self.all)]
            if cache is not None
            for entry in cache.entries()
        }
        for key in list(self.expected):
            expected = self.entry(key)
            if expected is None:
                continue
            entry = real.get(key)
            assert entry is not None or expected.state != "ready", f"{key} was lost"
            if entry is None:
                del self.expected[key]
            else:
                state = {"ready": "ready", "failed": "failed"}.get(entry.state, "live")
                if state == "failed" and expected.state == "live":
                    expected.until = now + FAILED_SECONDS
                expected.state = state
                expected.runs = set(entry.runs)
                if self.reuse is not None:
                    expected.until = entry.expires_at
        for key, entry in real.items():
            if key not in self.expected:
                # Only a call that runs its tool may leave something for later ones, and only under reuse.
                assert self.reuse is not None, f"{key} stands there unexpectedly"
                state = {"ready": "ready", "failed": "failed"}.get(entry.state, "live")
                self.expected[key] = Expected(state, entry.expires_at, set(entry.runs))

    @staticmethod
    def scope_of(entry: Any) -> str:
        scope = entry.key.scope
        return f"run {scope.run_id}" if hasattr(scope, "run_id") else f"tenant {scope.value[1]}"

    @staticmethod
    def user_of(entry: Any) -> str:
        return str(dict(dict(entry.key.caller[1:])["configurable"][1:])["user"][1])

    def forget(self, gone: Any) -> None:
        for key, entry in list(self.expected.items()):
            if gone(key, entry):
                del self.expected[key]

    def answered(self, caller: Waiting) -> None:
        """The caller has its answer; without one its tool runs, which gives a result only this call may have."""
        output = caller.task.result()
        if output is None:
            self.serial += 1
            with caller.call.running():
                pass
            caller.call.ran(Output([caller.query, caller.user, f"tool {self.serial}"]))
        elif output.content == "":
            self.expected.pop(self.key(caller.owner, caller.query, caller.user), None)  # empty: served, but not kept
        else:
            query, user, source = output.content
            assert (query, user) == (caller.query, caller.user), "another call's result"
            if self.reuse is None:
                assert source not in self.served, "a speculation answered two calls"
            elif (kept := self.expected.get(self.key(caller.owner, caller.query, caller.user))) is not None:
                kept.state = "live"  # it may be too old to answer a further call, and then it is gone
            self.served.append(source)

    def started(self) -> list[SpeculationStarted]:
        return [event for event in self.rig.events if isinstance(event, SpeculationStarted)]

    # ---- what always holds

    @invariant()
    def no_result_crosses_a_scope(self) -> None:
        scopes = {each.run.id: each.scope for each in self.all}
        started_in = {event.speculation_id: scopes[event.run_id] for event in self.started()}
        for event in self.rig.events:
            if isinstance(event, SearchCallAnswered) and event.speculation_id is not None:
                assert started_in[event.speculation_id] == scopes[event.run_id]

    @invariant()
    def every_speculation_has_at_most_one_fate(self) -> None:
        ended = [event.speculation_id for event in self.rig.events if isinstance(event, SpeculationEnded)]
        assert len(ended) == len(set(ended))
        assert set(ended) <= {event.speculation_id for event in self.started()}

    @invariant()
    def the_numbers_add_up(self) -> None:
        report = self.rig.engine.report()
        fates = [event.fate for event in self.rig.events if isinstance(event, SpeculationEnded)]
        assert report.speculations == len(self.started())
        assert report.served_speculations == fates.count(Fate.SERVED)
        assert report.unsettled == len(self.started()) - len(fates) >= 0
        assert report.search_calls == report.served + report.misses
        assert report.served_speculations <= report.served + report.served_reuse
        assert report.troubles == 0

    @invariant()
    def places_are_bounded(self) -> None:
        executor = self.rig.shared.executor
        assert 0 <= executor.running <= LIMITS.max_running
        assert len(self.rig.search.pending) <= executor.running
        assert len(executor._queue) <= LIMITS.max_queued

    def teardown(self) -> None:
        """No waiter hangs, and nothing is left: no retrieval, no entry, no speculation without a fate."""
        try:
            self.everything_ends()
        finally:
            self.rig.close()

    def everything_ends(self) -> None:
        self.rig.clock.pass_(MAX_WAIT + 1)
        self.settle()
        assert self.calls == [], "a waiter hangs"
        for owner in list(self.open):
            owner.run.close()
            own = owner.run._session.own
            assert own is None or len(own) == 0
        self.rig.clock.pass_(MAX_AGE + 1)
        assert len(self.rig.shared.cache) == 0
        self.rig.loop.settle()
        assert self.rig.search.pending == []
        assert self.rig.shared.executor.running == 0
        assert self.rig.engine.report().unsettled == 0


class Reusing(Speculations):
    """With reuse: an entry answers any number of calls for a while."""

    reuse = REUSE


TestSpeculations = Speculations.TestCase
TestSpeculations.settings = settings(stateful_step_count=40)
TestReusing = Reusing.TestCase
TestReusing.settings = settings(stateful_step_count=40)
