"""One agent process without a model: its engine is told what the model says, step by step."""

import json
from collections.abc import Mapping
from itertools import count
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool

from langgraph_prefetch import Prefetcher
from langgraph_prefetch.config import ExecutorLimits, ToolPolicy
from langgraph_prefetch.events import Event, SpeculationEnded, SpeculationIgnored
from langgraph_prefetch.graph.caller import GraphCaller
from langgraph_prefetch.prefetcher import Run
from langgraph_prefetch.speculation.call import SearchCall
from langgraph_prefetch.speculation.flight import FlightState
from langgraph_prefetch.speculation.loops import BackgroundLoop
from langgraph_prefetch.speculation.shared import Shared
from langgraph_prefetch.values import Output, ToolCallDelta
from tests.aws.parts import until

PATIENCE = 300.0
PATIENT: dict[str, Any] = {"max_wait_seconds": PATIENCE, "max_age_seconds": PATIENCE}
"""No bound of the machine's own: the process may be held up, and what a test waits for is something else."""

_numbers = count()


class Machine:
    """An engine with an executor and a memory of its own, as if it were another process."""

    def __init__(self, tool: BaseTool, *, limits: ExecutorLimits | None = None, **options: Any) -> None:
        self.shared = Shared.made(BackgroundLoop(), limits=limits)
        policy = ToolPolicy(name=tool.name, timeout_seconds=PATIENCE)
        self.prefetch = Prefetcher([policy], shared=self.shared, **PATIENT | options)
        assert self.prefetch.admit(tool)
        self.name = tool.name
        self.events: list[Event] = []
        self.prefetch.subscribe(self.events.append)

    def run(self, configurable: Mapping[str, Any] | None = None) -> "Speaking":
        return Speaking(self, configurable or {})

    def reasons(self) -> list[str]:
        """Why speculations were not started, or did not end well."""
        told = [each for each in self.events if isinstance(each, SpeculationIgnored | SpeculationEnded)]
        return [each.reason for each in told]

    def close(self) -> None:
        self.prefetch.close()
        self.shared.executor.close()


class Speaking:
    """One run of it."""

    def __init__(self, machine: Machine, configurable: Mapping[str, Any]) -> None:
        self._machine = machine
        self._caller = GraphCaller(RunnableConfig(configurable=dict(configurable)))
        self.run: Run = machine.prefetch.open_run(configurable)

    def seal(self, query: str, **more: Any) -> None:
        """The model closes the arguments of a call."""
        number = next(_numbers)
        arguments = json.dumps({"query": query, **more})
        self.run.begin_step(number)
        delta = ToolCallDelta(index=0, call_id=f"call_{number}", name=self._machine.name, arguments=arguments)
        self.run.hear(number, [delta], lambda: self._caller)

    def state(self) -> FlightState | None:
        """Of the latest speculation that nobody has claimed."""
        entries = self.run.session.cache.entries()
        return entries[-1].state if entries else None

    def sealed_and(self, state: FlightState, query: str, **more: Any) -> "Speaking":
        """Seal a call and wait until its speculation stands so."""
        self.seal(query, **more)
        return self.until(state)

    def until(self, state: FlightState) -> "Speaking":
        until(lambda: self.state() is state)
        return self

    def call(self, query: str, **more: Any) -> SearchCall:
        tool = self._machine.prefetch.tools[self._machine.name]
        call = self.run.call(tool, {"query": query, **more}, None, self._caller)
        assert call is not None
        return call

    def answer(self, query: str, **more: Any) -> Output | None:
        """What a real call is served with; None: its tool has to run."""
        return self.call(query, **more).answer()
