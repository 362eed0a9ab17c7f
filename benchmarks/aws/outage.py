"""Queue or table away while agents work: answers stay those of the bare agent, and no call waits for what is away.

A server that is stopped (SIGSTOP) takes connections and answers nothing, which is harder on its clients than one that
refuses; refusals are made on the way out of the client, in the second half of each outage.
"""

from __future__ import annotations

import itertools
import os
import signal
import statistics
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import EndpointConnectionError
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import BaseTool, tool

from benchmarks.aws.loading import in_brackets
from benchmarks.aws.place import place
from benchmarks.aws.processes import server_pid
from benchmarks.aws.tables import NOTHING, Figure, Part
from langgraph_prefetch import Budgets, with_prefetch
from langgraph_prefetch.aws.connection import Connection
from langgraph_prefetch.events import Event, SearchCallAnswered
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn
from langgraph_prefetch.testing.script import turn_of

SEARCH_SECONDS = 0.3
SLACK_SECONDS = 0.05
"""What threads, models and a busy machine take of a call; the bare agent's calls are printed beside."""
OFF = Budgets(guesses_per_step=0, sealed_per_step=0, per_run=0)
WORKER_OPTIONS = ("--concurrency", "8", "--namespace", "default")


@dataclass(frozen=True, slots=True, kw_only=True)
class OutageSettings:
    """Seconds that everything works before and between outages, and that one lasts; agents that work meanwhile."""

    up_seconds: float = 15.0
    down_seconds: float = 60.0
    agents: int = 3
    seconds_per_token: float = 0.01


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: whether the messages are those of the bare agent, what was raised, how its search was answered."""

    topic: str
    same: bool
    error: str
    call: SearchCallAnswered | None
    lookup_seconds: float

    @property
    def waited(self) -> float:
        """How long the agent waited for its search."""
        return self.call.waited_seconds if self.call else 0.0

    @property
    def search_seconds(self) -> float:
        """What the search took that answered: as measured where the agent's own tool ran, else as it takes."""
        if self.call is None or self.call.source is not None:
            return SEARCH_SECONDS
        return max(SEARCH_SECONDS, self.call.retrieval_seconds)

    @property
    def over(self) -> float:
        """Seconds beyond the search and the lookup deadline; below 0 where it was sooner."""
        return self.waited - self.search_seconds - self.lookup_seconds


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of time, and what was asked in it."""

    name: str
    asked: Sequence[Asked]

    @property
    def called(self) -> list[Asked]:
        """Those whose search was answered, one way or another."""
        return [each for each in self.asked if each.call is not None]


@tool
def search(query: str) -> str:
    """Search the encyclopedia."""
    time.sleep(SEARCH_SECONDS)
    return f"passages about {query}"


quick = search.model_copy(update={"func": lambda query: f"passages about {query}"})


def script(messages: Sequence[BaseMessage]) -> Turn:
    """Every tenth question is one whose thought names another query than is searched then."""
    topic = str(messages[0].text)
    thought = f"I need to search {topic}, and then read what it says, all of it and not its first lines alone."
    query = f"the other of {topic}" if topic.endswith("0") else topic
    found = [str(each.text) for each in messages if isinstance(each, ToolMessage)]
    return turn_of((Turn(thought, calls=[Call("search", {"query": query})]), Turn(text=f"It says: {found}")), messages)


def outage(settings: OutageSettings) -> Part:
    """Measure it."""
    with place() as at, ExitStack() as stack:
        workers = [at.worker("benchmarks.aws.outage:search", *WORKER_OPTIONS) for _ in range(2)]
        for worker in workers:
            stack.callback(worker.stop)
        for worker in workers:
            worker.ready()
        executor, cache = at.executor(), at.cache(namespace="default")
        stack.callback(executor.close)
        stack.callback(cache.close)
        asking = Asking(settings, executor=executor, cache=cache)
        phases = [asking.phase("all well", settings.up_seconds)]
        ways = (("queue", at.queues, executor.connection), ("table", at.tables, cache.connection))
        for name, aws, connection in ways:
            with stopped(server_pid(aws)):
                phases.append(asking.phase(f"{name} silent", settings.down_seconds / 2))
            with refused(connection):
                phases.append(asking.phase(f"{name} refuses", settings.down_seconds / 2))
            phases.append(asking.phase(f"{name} back", settings.up_seconds))
    direct = Asking(settings, budgets=OFF)
    return _part(phases, direct.phase("without early searches", settings.up_seconds))


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """The process stands still."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@contextmanager
def refused(connection: Connection) -> Iterator[None]:
    """Every call of a client finds nobody there."""
    client = connection.client
    event = f"before-send.{client.meta.service_model.service_id.hyphenize()}"

    def refuse(request: Any, **_: Any) -> None:
        raise EndpointConnectionError(endpoint_url=request.url)

    client.meta.events.register(event, refuse)
    try:
        yield
    finally:
        client.meta.events.unregister(event, refuse)


class Asking:
    """Agents that are asked one question after another, each on a thread; ``options``: of ``with_prefetch``."""

    def __init__(self, settings: OutageSettings, **options: Any) -> None:
        self._agents = [
            with_prefetch(_agent(search, settings.seconds_per_token), tools=["search"], **options)
            for _ in range(settings.agents)
        ]
        self._lookup = (lambda: options["cache"].lookup_seconds) if "cache" in options else (lambda: 0.0)
        self._numbers = itertools.count(1)

    def phase(self, name: str, seconds: float) -> Phase:
        """Ask for so long, and each agent once at least."""
        began, asked = time.monotonic(), list[Asked]()

        def ask(agent: Any) -> None:
            while True:
                asked.append(self._ask(agent, f"Bridge {next(self._numbers)}"))
                if time.monotonic() >= began + seconds:
                    return

        threads = [threading.Thread(target=ask, args=(agent,)) for agent in self._agents]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return Phase(name, asked)

    def _ask(self, agent: Any, topic: str) -> Asked:
        calls = list[SearchCallAnswered]()
        unsubscribe = agent.prefetch.subscribe(lambda event: _note(event, calls))
        deadline = self._lookup()
        try:
            messages = agent.invoke({"messages": [("user", topic)]})["messages"]
        except Exception as error:  # noqa: BLE001 - what must not be is counted
            return Asked(topic, False, type(error).__name__, None, deadline)
        finally:
            unsubscribe()
        bare = _agent(quick, 0.0).invoke({"messages": [("user", topic)]})["messages"]
        call = calls[0] if calls else None
        return Asked(topic, said(messages) == said(bare), "", call, max(deadline, self._lookup()))


def _note(event: Event, calls: list[SearchCallAnswered]) -> None:
    if isinstance(event, SearchCallAnswered):
        calls.append(event)


def _agent(searching: BaseTool, seconds_per_token: float) -> Any:
    return create_agent(ScriptedChatModel(script=script, seconds_per_token=seconds_per_token), [searching])


def said(messages: Sequence[BaseMessage]) -> list[str]:
    """What an agent said and read."""
    return [str(each.text) for each in messages if isinstance(each, AIMessage | ToolMessage)]


def _part(phases: Sequence[Phase], direct: Phase) -> Part:
    asked = [each for phase in phases for each in phase.asked]
    other = [each for each in asked if not each.same]
    raised = sorted({each.error for each in other if each.error})
    unseen = sum(each.call is None and not each.error for each in asked)
    noise = max([SLACK_SECONDS, *(each.over for each in direct.called)])
    figures = [
        Figure(
            measure=f"questions whose messages are not those of the bare agent, of {len(asked):,}",
            limit="0",
            measured=(str(len(other)) + (f" (raised: {', '.join(raised)})" if raised else "")) if asked else NOTHING,
            held=bool(asked) and not other,
            timeless=True,
        ),
        Figure(
            measure="searches of which no event told how they were answered",
            limit="0",
            measured=str(unseen) if asked else NOTHING,
            held=bool(asked) and not unseen,
            timeless=True,
        ),
        _slower(phases, noise),
        _row(direct, "the agent without early searches: seconds a call waits, p50, longest"),
        *(_row(phase, f"{phase.name}: the same; served early") for phase in phases),
    ]
    slowest = sorted(
        ((each.over, phase.name, each) for phase in phases for each in phase.called), key=lambda at: -at[0]
    )
    details = [{"over": over, "phase": name, "call": str(each.call)} for over, name, each in slowest[:20]]
    return Part(title="Outages", figures=figures, details=details)


def _slower(phases: Sequence[Phase], noise: float) -> Figure:
    over = [each.over for phase in phases for each in phase.called]
    where = Counter(phase.name for phase in phases for each in phase.called if each.over > noise)
    return Figure(
        measure=f"calls slower than their search ({SEARCH_SECONDS:g} s) and the lookup deadline "
        f"(30 to 100 ms), by more than {1_000 * noise:.0f} ms of noise",
        limit="0",
        measured=f"{sum(where.values())} of {len(over):,}{in_brackets(where)}; the worst by {max(over) * 1_000:.0f} ms"
        if over
        else NOTHING,
        held=bool(over) and not where,
    )


def _row(phase: Phase, measure: str) -> Figure:
    waited = [each.waited for each in phase.called]
    if not waited:
        return Figure(measure=measure, limit="printed", measured=NOTHING)
    early = sum(each.call is not None and each.call.source is not None for each in phase.called)
    return Figure(
        measure=measure,
        limit="printed",
        measured=f"{statistics.median(waited):.2f} s, {max(waited):.2f} s (of which its own search "
        f"{max(phase.called, key=lambda each: each.waited).search_seconds:.2f} s); {early} of {len(waited)}",
    )


def short() -> OutageSettings:
    """For tests."""
    return OutageSettings(up_seconds=1.5, down_seconds=3.0, agents=2, seconds_per_token=0.002)
