"""The tool of a replay that takes as long as the recorded one did."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Mapping
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any

from langgraph_prefetch.config import ToolPolicy
from langgraph_prefetch.evaluation.advice.tools import written
from langgraph_prefetch.evaluation.importers.values import TracedRun
from langgraph_prefetch.evaluation.oracle import Asked, Oracle
from langgraph_prefetch.evaluation.player import owner_of
from langgraph_prefetch.ports import Caller, Work
from langgraph_prefetch.values import Output


class Durations:
    """How long the calls of the run that is being played took, by tool and arguments."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], float] = {}

    def begin(self, run: TracedRun) -> None:
        """Another run begins. Where equal calls took different times, the first one's is taken for all."""
        self._known = {}
        for step in run.steps:
            for call in step.calls:
                if call.seconds is not None:
                    self._known.setdefault((call.name, written(dict(call.arguments))), call.seconds)

    def of(self, tool: str, arguments: Mapping[str, Any], typical: float) -> float:
        """Seconds; what was never asked takes as long as is typical."""
        return self._known.get((tool, written(dict(arguments))), typical)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedTool:
    """A :class:`~langgraph_prefetch.ports.SearchTool` that sleeps for the recorded time; the oracle answers.

    Attributes:
        policy: what may be done early with it.
        fixed: what else a guess passes.
        typical_seconds: how long a call takes that was not recorded.
    """

    policy: ToolPolicy
    oracle: Oracle
    durations: Durations
    typical_seconds: float
    fixed: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def identity(self) -> Hashable:
        """See :class:`~langgraph_prefetch.ports.SearchTool`."""
        return ("advise", self.policy.name)

    def arguments_for(self, query: str) -> Mapping[str, Any] | None:
        """See :class:`~langgraph_prefetch.ports.SearchTool`."""
        name = self.policy.query_argument
        return None if name is None else {name: query, **self.fixed}

    def complete(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Recorded arguments are complete."""
        return arguments

    def prepare(self, arguments: Mapping[str, Any], caller: Caller) -> Work:
        """See :class:`~langgraph_prefetch.ports.SearchTool`."""
        return Work(context=copy_context(), coroutine=lambda: self.search(arguments, caller))

    def asked(self, arguments: Mapping[str, Any], caller: Caller) -> Asked:
        """What a search by ``caller`` is given."""
        return Asked(
            tool=self.policy.name,
            arguments=arguments,
            configuration=caller.configurable,
            owner=owner_of(caller.configurable),
        )

    async def search(self, arguments: Mapping[str, Any], caller: Caller) -> Output:
        """One search, which reads at its beginning and takes its time."""
        answer = self.oracle.answer(self.asked(arguments, caller))
        await asyncio.sleep(self.durations.of(self.policy.name, arguments, self.typical_seconds))
        return Output(answer)
