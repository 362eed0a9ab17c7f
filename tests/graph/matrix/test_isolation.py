"""A speculation sees what the user configured and nothing of the host's: no trace of it is in the run it is for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.callbacks.manager import dispatch_custom_event
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_store, get_stream_writer
from langgraph.prebuilt import ToolRuntime
from langgraph.runtime import get_runtime
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, interrupt
from langsmith.run_helpers import get_tracing_context, tracing_context

from langgraph_prefetch import ToolPolicy, with_prefetch
from langgraph_prefetch.testing.script import Call, Turn
from tests.graph.matrix.compare import assert_same, compare, patient, prefetch_of, prefetched, question
from tests.graph.matrix.kinds import Graph, World, agent, drawn, search_for
from tests.graph.matrix.styles import EVERYTHING, STYLES, Recorder, Style


@dataclass
class Tenant:
    """A graph's runtime context."""

    name: str


class Searching(World):
    """A world whose search is ``search``; it is asked for once, or thought of and never asked for."""

    def __init__(self, search: BaseTool, *, asked: bool = True, **options: Any) -> None:
        thought = search_for("Eiffel Tower")
        elsewhere = Turn(thought.reasoning, calls=[Call("weigh", {"thing": "tower"})])
        super().__init__((thought if asked else elsewhere, Turn(text="Done.")), options=options)
        self._search = search

    @property
    def tools(self) -> list[BaseTool]:
        return [self._search, *self.others]


SEEN: list[dict[str, Any]] = []


@pytest.fixture(autouse=True)
def _nothing_seen() -> None:
    SEEN.clear()


@tool
def search(query: str, config: RunnableConfig) -> str:
    """Search for passages; writes down what it can see."""
    ambient = var_child_runnable_config.get() or {}
    SEEN.append(
        {
            "user": config["configurable"]["user"],
            "ambient user": ambient["configurable"]["user"],
            "context": get_runtime(Tenant).context,
            "store": get_store(),
            "host": [name for name in ambient["configurable"] if name.startswith("checkpoint")],
            "handlers": [type(each).__name__ for each in getattr(config["callbacks"], "handlers", [])],
            "tracing": get_tracing_context()["enabled"],
            "tags": config["tags"],
        }
    )
    return f"about {query}"


def test_a_speculation_sees_the_users_own_configuration() -> None:
    """Configurable, runtime context and store as in the real call; no handlers, no checkpoint, no tracing."""
    store = InMemoryStore()
    world = Searching(search, context_schema=Tenant, checkpointer=InMemorySaver(), store=store)
    graph = patient(prefetched(agent(world)))

    with tracing_context(enabled="local"):
        graph.invoke(
            question(),
            {"configurable": {"user": "ada", "thread_id": "1"}, "callbacks": [Recorder()], "tags": ["mine"]},
            context=Tenant("museum"),
        )

    assert prefetch_of(graph).report().served == 1
    (seen,) = SEEN
    assert seen == {
        "user": "ada",
        "ambient user": "ada",
        "context": Tenant("museum"),
        "store": store,
        "host": [],
        "handlers": [],
        "tracing": False,
        "tags": ["langgraph_prefetch:speculation"],
    }


@tool
def noisy_search(query: str) -> str:
    """Search for passages, and say so on every channel there is."""
    get_stream_writer()({"searching": query})
    dispatch_custom_event("searching", {"query": query})
    return f"about {query}"


@pytest.mark.parametrize("style", ["stream-everything", "astream-everything", "astream_events-v2", "stream_events-v3"])
def test_a_speculation_that_nobody_asked_for_leaves_no_trace(style: str) -> None:
    """No custom writes, no custom events, no tool events: not in the stream, not in the user's handler."""
    noisy_search.name = "search"

    report = compare(agent, STYLES[style], lambda: Searching(noisy_search, asked=False), backend=False)

    assert (report.speculations, report.failed, report.served, report.false_starts) == (1, 0, 0, 1)


@pytest.mark.parametrize("style", ["stream-everything", "astream_events-v2"])
def test_what_a_tool_says_while_it_runs_is_said_by_a_served_call_too(style: str) -> None:
    """Custom writes and events of the tool's own, as in a run that searches for itself."""
    noisy_search.name = "search"

    compare(agent, STYLES[style], lambda: Searching(noisy_search))


@tool
def asking_search(query: str) -> str:
    """Search for passages a person allows."""
    return f"{interrupt(query)}: about {query}"


@pytest.mark.parametrize("build", [agent, drawn])
def test_an_interrupt_in_a_speculation_asks_nobody(build: Callable[[World], Graph]) -> None:
    """The real call asks, once, and gets the person's answer; the speculation has neither asked nor taken it."""
    asking_search.name = "search"

    def call(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
        parts = list(graph.stream(state, config, stream_mode=EVERYTHING))
        return [*parts, *graph.stream(Command(resume="allowed"), config, stream_mode=EVERYTHING)]

    report = compare(
        build,
        Style("asks", call, streams_anyway=True),
        lambda: Searching(asking_search, checkpointer=InMemorySaver()),
        backend=False,
    )

    assert (report.served, report.speculations) == (0, report.failed)
    assert report.failed >= 1


@tool
def scoped_search(query: str, runtime: ToolRuntime[Tenant, Any]) -> str:
    """Search for passages of a tenant."""
    runtime.stream_writer({"searching": query})
    return f"about {query} for {runtime.context.name} as {runtime.config['configurable']['user']}"


def test_a_runtime_is_given_on_the_users_word() -> None:
    """``reads_runtime``: the tool gets context and configuration, and a stream writer that leads nowhere."""
    scoped_search.name = "search"
    said: list[Any] = []

    def call(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
        said.append(list(graph.stream(state, config, stream_mode="custom", context=Tenant("museum"))))
        return [graph.invoke(state, config, context=Tenant("museum"))]

    def wrapped(world: World) -> Graph:
        policy = ToolPolicy(name="search", reads_runtime=True)
        return patient(with_prefetch(agent(world), [policy]))

    graph = assert_same(
        agent, wrapped, Style("runtime", call), lambda: Searching(scoped_search, context_schema=Tenant), backend=False
    )

    assert prefetch_of(graph).report().served == 2
