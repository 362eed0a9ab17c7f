"""Replay: recorded runs through the real reader, scheduler, executor, cache and answer, on virtual or real time.

What is assumed, and what is not: the model writes one token at a steady rate, every search takes the same time, other
tools take none, and the graph one short step. What is read, started, joined, cancelled and served is decided by the
same objects that run in an agent.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable

from langgraph_prefetch.config import ToolPolicy
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.evaluation.arguments import arguments_of, query_argument, spoken_query
from langgraph_prefetch.evaluation.backend import ReplayTool
from langgraph_prefetch.evaluation.callers import alone, crowd
from langgraph_prefetch.evaluation.measures import Answers, FileMeasures, measures
from langgraph_prefetch.evaluation.oracle import Oracle
from langgraph_prefetch.evaluation.player import Ahead, Player, owner_of, play_all
from langgraph_prefetch.evaluation.settings import ReplaySettings
from langgraph_prefetch.evaluation.streams import ENDINGS, MESSAGES
from langgraph_prefetch.evaluation.traces import Recording
from langgraph_prefetch.evaluation.virtual_time import run_really, run_virtually
from langgraph_prefetch.events import EventSink
from langgraph_prefetch.intent.cues import CueSet, default_cues
from langgraph_prefetch.prefetcher import PrefetchEngine
from langgraph_prefetch.prefetcher.engine import OFF_SWITCH
from langgraph_prefetch.speculation.loops import GivenLoop
from langgraph_prefetch.speculation.shared import Shared

_SETTLING_SECONDS = 1.0


def replay(
    recording: Recording,
    settings: ReplaySettings,
    *,
    cues: CueSet | None = None,
    sink: EventSink | None = None,
    on_episode: Callable[[], None] = lambda: None,
    real_time: bool = False,
    ahead: Ahead | None = None,
) -> FileMeasures:
    """Replay every episode of a recording, one after the other, each in a scope of its own.

    Args:
        recording: what was recorded.
        settings: the assumptions.
        cues: the language of intent; the cues that come with the package if None.
        sink: receives every event of the machine as well.
        on_episode: called after each episode.
        real_time: wait for every token and every search; the counts are those of virtual time, and the seconds differ
            by what the machine itself takes.
        ahead: begins next model calls while searches run; None for nobody.

    Raises:
        ConfigurationError: the environment switches prefetch off.
    """
    spoken = default_cues() if cues is None else cues  # read from files, which nothing on an event loop should do
    play = run_really if real_time else run_virtually
    return play(lambda: _replay(recording, settings, spoken, sink, on_episode, ahead))


async def _replay(
    recording: Recording,
    settings: ReplaySettings,
    cues: CueSet,
    sink: EventSink | None,
    on_episode: Callable[[], None],
    ahead: Ahead | None,
) -> FileMeasures:
    loop = asyncio.get_running_loop()
    shared = Shared.made(GivenLoop(loop), limits=settings.limits(), clock=loop.time)
    engine = PrefetchEngine(settings.options(), cues=cues, shared=shared, sealed=settings.sealed)
    if settings.min_probability is not None:
        engine.intent = dataclasses.replace(engine.intent, min_probability=settings.min_probability)
    if not engine.enabled:
        raise ConfigurationError(f"{OFF_SWITCH} is off in this environment, so there is nothing to measure")
    answers, oracle = Answers(), Oracle()
    engine.subscribe(answers)
    if sink is not None:
        engine.subscribe(sink)
    tools = {name: _tool(name, recording, settings, oracle) for name in settings.tools}
    engine.tools.update(tools)
    # An agent is told its tools beforehand; a recording shows them in what was called.
    called = {step.action for episode in recording.episodes for step in episode.steps}
    engine.agent_has((called | tools.keys()) - MESSAGES - ENDINGS)
    player = Player(engine=engine, oracle=oracle, settings=settings, tools=tools, ahead=ahead)
    everybody = crowd() if settings.inject_collisions else ()
    for number, episode in enumerate(recording.episodes, start=1):
        await play_all(player, episode, everybody or alone(number))
        on_episode()
    await asyncio.sleep(settings.latency_seconds + _SETTLING_SECONDS)  # what is under way ends
    # In a shared scope results would wait for a later run until they are too old; none comes.
    for entry in shared.cache.take():
        entry.abandon("expired")
    shared.executor.close()
    return measures(
        recording.file,
        engine.report(),
        answers.events,
        episodes=len(recording.episodes),
        skipped_lines=len(recording.malformed),
        verbatim=_verbatim(recording, tools) * max(1, len(everybody)),
        wrong=oracle.wrong,
        cost=settings.cost,
        value_of_second=settings.value_of_second,
    )


def _tool(name: str, recording: Recording, settings: ReplaySettings, oracle: Oracle) -> ReplayTool:
    return ReplayTool(
        policy=ToolPolicy(name=name, query_argument=query_argument(recording.episodes, name), price=settings.price()),
        oracle=oracle,
        owner_of=owner_of,
        latency_seconds=settings.latency_seconds,
    )


def _verbatim(recording: Recording, tools: dict[str, ReplayTool]) -> int:
    """Search calls whose query stands in the thought of their step."""
    found = 0
    for step in (step for episode in recording.episodes for step in episode.steps if step.action in tools):
        query = spoken_query(arguments_of(step), tools[step.action].policy.query_argument)
        found += query is not None and query in step.thought
    return found
