"""Plays recorded runs to the real machine: reading, starting early, answering. Time is the running loop's."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from langgraph_prefetch.evaluation.arguments import arguments_of
from langgraph_prefetch.evaluation.backend import RecordedCaller, ReplayTool
from langgraph_prefetch.evaluation.callers import Member
from langgraph_prefetch.evaluation.looking import Looking
from langgraph_prefetch.evaluation.oracle import Oracle
from langgraph_prefetch.evaluation.settings import ReplaySettings
from langgraph_prefetch.evaluation.streams import ENDINGS, MESSAGES, pieces
from langgraph_prefetch.evaluation.traces import Episode, RecordedStep
from langgraph_prefetch.prefetcher import PrefetchEngine, Run
from langgraph_prefetch.speculation.call import SearchCall
from langgraph_prefetch.values import Output


class Ahead(Protocol):
    """Begins the next model call while a search runs. It is asked about one run at a time."""

    def opened(self, run: Run, episode: Episode) -> None:
        """A run begins."""
        ...

    def arrived(self, number: int, call: SearchCall) -> None:
        """The search call of step ``number`` is about to be answered."""
        ...

    def came(self) -> float:
        """It was answered. Seconds by which the next model call has begun already."""
        ...

    def closed(self) -> None:
        """The run is over."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Player:
    """Plays episodes to one engine.

    Attributes:
        tools: the search tools, by the recorded action's name.
        ahead: begins model calls early; None where each begins after its tools.
    """

    engine: PrefetchEngine
    oracle: Oracle
    settings: ReplaySettings
    tools: Mapping[str, ReplayTool]
    ahead: Ahead | None = None

    async def play(self, episode: Episode, member: Member, *, after: float = 0.0) -> None:
        """Play one episode as one run of ``member``, ``after`` so many seconds."""
        await asyncio.sleep(after)
        caller = RecordedCaller(member.configurable)
        run = self.engine.open_run(member.configurable)
        if self.ahead is not None:
            self.ahead.opened(run, episode)
        begun = 0.0
        try:
            for number, step in enumerate(episode.steps, start=1):
                begun = await self._step(run, number, step, episode, member, caller, begun)
        finally:
            run.close()
            if self.ahead is not None:
                self.ahead.closed()

    async def _step(
        self,
        run: Run,
        number: int,
        step: RecordedStep,
        episode: Episode,
        member: Member,
        caller: RecordedCaller,
        begun: float,
    ) -> float:
        """One model call, which has ``begun`` so many seconds ago, and its tool; for how long the next one has."""
        tool = self.tools.get(step.action)
        added = member.arguments if tool is not None else {}
        arguments = {**arguments_of(step), **added}
        # Further arguments can only be written as a structured call.
        style = "tool_calls" if added else episode.style
        call_id = f"call-{number}"
        a_token = 1 / self.settings.tokens_per_second
        run.begin_step(number, episode.question)
        looking = Looking(lambda deltas: run.hear(number, deltas, lambda: caller), self.settings.look_every_seconds)
        for delta in pieces(step, arguments, style, call_id):
            begun = await looking.wait(a_token, begun)
            looking.written(delta)
        await looking.wait(a_token, begun)
        looking.look()
        run.end_step(number)
        await asyncio.sleep(self.settings.graph_step_seconds)
        if tool is not None:
            return await self._search(run, number, tool, arguments, call_id, caller)
        if step.action not in MESSAGES | ENDINGS:
            run.other_tool(step.action)
            self.oracle.changed(owner_of(member.configurable))
            run.other_tool(step.action)
        return 0.0

    async def _search(
        self,
        run: Run,
        number: int,
        tool: ReplayTool,
        arguments: Mapping[str, Any],
        call_id: str,
        caller: RecordedCaller,
    ) -> float:
        asked = tool.asked(arguments, caller)
        since = self.oracle.version(asked.owner)
        call = run.call(tool, arguments, call_id, caller)
        output: Output | None = None
        if call is not None:
            if self.ahead is not None:
                self.ahead.arrived(number, call)
            output = await call.aanswer()
            if output is None:
                with call.running():
                    output = await tool.search(arguments, caller)
                call.ran(output)
        if output is None:
            output = await tool.search(arguments, caller)
        self.oracle.check(asked, output.content, since=since)
        return self.ahead.came() if self.ahead is not None and call is not None else 0.0


def owner_of(configurable: Mapping[str, Any]) -> str:
    """Whose data a caller searches: the tenant's, or its own run's."""
    return str(configurable["tenant"]) if "tenant" in configurable else f"run {configurable['run']}"


async def play_all(player: Player, episode: Episode, members: tuple[Member, ...]) -> None:
    """Play one episode for all ``members`` at once, each a fifth of a token's time behind the one before."""
    behind = itertools.count()
    late = 0.2 / player.settings.tokens_per_second
    await asyncio.gather(*(player.play(episode, member, after=next(behind) * late) for member in members))
