"""Plays traced runs to the real machine on virtual time: recorded timing where there is some, calls side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from langgraph_prefetch.config import PrefetchOptions, Price, ToolPolicy
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.evaluation.advice.backend import Durations, TimedTool
from langgraph_prefetch.evaluation.advice.schedule import schedule
from langgraph_prefetch.evaluation.advice.tools import ToolFacts, calls_of
from langgraph_prefetch.evaluation.backend import RecordedCaller
from langgraph_prefetch.evaluation.importers.values import TracedCall, TracedRun, TracedStep
from langgraph_prefetch.evaluation.oracle import Oracle
from langgraph_prefetch.evaluation.player import owner_of
from langgraph_prefetch.evaluation.virtual_time import run_virtually
from langgraph_prefetch.events import Event, EventSink
from langgraph_prefetch.intent.cues import CueSet
from langgraph_prefetch.prefetcher import PrefetchEngine, Run
from langgraph_prefetch.prefetcher.engine import OFF_SWITCH
from langgraph_prefetch.speculation.loops import GivenLoop
from langgraph_prefetch.speculation.shared import Shared
from langgraph_prefetch.values import Output

_SETTLING_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What is to be tried.

    Attributes:
        tools: those that may run early.
        guesses_for: the one tool whose queries are guessed; None for sealed calls alone.
        reuse_seconds: see :class:`~langgraph_prefetch.config.PrefetchOptions`.
        price, value_of_second: of a call, and of a second; None for no gate.
        tokens_per_second, graph_step_seconds: for what was not recorded.
    """

    tools: tuple[ToolFacts, ...]
    guesses_for: str | None = None
    reuse_seconds: float | None = None
    price: Price | None = None
    value_of_second: Price | None = None
    tokens_per_second: float = 50.0
    graph_step_seconds: float = 0.002


@dataclass(frozen=True, slots=True)
class Played:
    """What happened: the events by number of the run (from 0), and how long each run took, in seconds."""

    events: Mapping[int, tuple[Event, ...]]
    seconds: tuple[float, ...]
    wrong_answers: int


def play(
    runs: Sequence[TracedRun], scenario: Scenario, cues: CueSet, on_run: Callable[[], None] = lambda: None
) -> Played:
    """Play every run, one after the other, each in a scope of its own.

    Raises:
        ConfigurationError: the environment switches prefetch off.
    """
    return run_virtually(lambda: _play(runs, scenario, cues, on_run))


async def _play(runs: Sequence[TracedRun], scenario: Scenario, cues: CueSet, on_run: Callable[[], None]) -> Played:
    loop = asyncio.get_running_loop()
    shared = Shared.made(GivenLoop(loop), clock=loop.time)
    options = PrefetchOptions(reuse_seconds=scenario.reuse_seconds, value_of_second=scenario.value_of_second)
    engine = PrefetchEngine(options, cues=cues, shared=shared)
    if not engine.enabled:
        raise ConfigurationError(f"{OFF_SWITCH} is off in this environment, so there is nothing to measure")
    oracle, durations = Oracle(), Durations()
    tools = {each.name: _tool(each, scenario, oracle, durations) for each in scenario.tools}
    engine.tools.update(tools)
    engine.agent_has({call.name for run in runs for call in calls_of(run)} | tools.keys())
    player = _Player(engine=engine, oracle=oracle, scenario=scenario, tools=tools)
    events: dict[int, list[Event]] = {}
    seconds: list[float] = []
    for number, run in enumerate(runs):
        durations.begin(run)
        heard: list[Event] = []
        events[number] = heard
        forget = engine.subscribe(_listener(heard))
        began = loop.time()
        await player.play(run, number)
        seconds.append(loop.time() - began)
        await asyncio.sleep(_SETTLING_SECONDS + max((each.typical_seconds for each in scenario.tools), default=0.0))
        forget()
        on_run()
    for entry in shared.cache.take():
        entry.abandon("expired")
    shared.executor.close()
    return Played({number: tuple(heard) for number, heard in events.items()}, tuple(seconds), oracle.wrong)


def _listener(heard: list[Event]) -> EventSink:
    return lambda event: heard.append(event)


def _tool(facts: ToolFacts, scenario: Scenario, oracle: Oracle, durations: Durations) -> TimedTool:
    policy = ToolPolicy(
        name=facts.name,
        query_argument=facts.query_argument,
        guess=facts.name == scenario.guesses_for,
        price=scenario.price,
    )
    return TimedTool(
        policy=policy,
        oracle=oracle,
        durations=durations,
        typical_seconds=facts.typical_seconds,
        fixed=facts.fixed,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Player:
    engine: PrefetchEngine
    oracle: Oracle
    scenario: Scenario
    tools: Mapping[str, TimedTool]

    async def play(self, traced: TracedRun, number: int) -> None:
        caller = RecordedCaller({"run": number})
        run = self.engine.open_run(caller.configurable)
        try:
            for place, step in enumerate(traced.steps, start=1):
                await self._say(run, place, step, traced.question, caller)
                await self._act(run, step, caller)
        finally:
            run.close()

    async def _say(self, run: Run, place: int, step: TracedStep, question: str, caller: RecordedCaller) -> None:
        times, passed = schedule(step, self.scenario.tokens_per_second), 0.0
        run.begin_step(place, question)
        for delta, at in zip(step.deltas, times.at, strict=True):
            await asyncio.sleep(at - passed)
            passed = at
            run.hear(place, (delta,), lambda: caller)
        await asyncio.sleep(max(0.0, times.end - passed))
        run.end_step(place)
        if step.calls:
            await asyncio.sleep(step.gap if step.gap is not None else self.scenario.graph_step_seconds)

    async def _act(self, run: Run, step: TracedStep, caller: RecordedCaller) -> None:
        batch = object() if len(step.calls) > 1 else None
        await asyncio.gather(*(self._call(run, call, caller, batch) for call in step.calls))

    async def _call(self, run: Run, traced: TracedCall, caller: RecordedCaller, batch: object | None) -> None:
        tool = self.tools.get(traced.name)
        if tool is None:
            run.other_tool(traced.name, batch)
            self.oracle.changed(owner_of(caller.configurable))
            await asyncio.sleep(traced.seconds or 0.0)
            run.other_tool(traced.name, batch)
            return
        asked = tool.asked(traced.arguments, caller)
        since = self.oracle.version(asked.owner)
        call = run.call(tool, traced.arguments, traced.call_id, caller, batch)
        output: Output | None = await call.aanswer() if call is not None else None
        if output is None and call is not None:
            with call.running():
                output = await tool.search(traced.arguments, caller)
            call.ran(output)
        elif output is None:
            output = await tool.search(traced.arguments, caller)
        self.oracle.check(asked, output.content, since=since)
