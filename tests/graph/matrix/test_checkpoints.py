"""What a wrapped graph writes to its checkpointer and store is what the bare one writes, and can be gone back to."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import InjectedStore
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, StateSnapshot, interrupt

from langgraph_prefetch.testing.script import Call, Turn
from tests.graph.matrix.compare import compare
from tests.graph.matrix.kinds import KINDS, SEARCHES, Graph, World, agent, drawn, search_for
from tests.graph.matrix.styles import EVERYTHING, Style

TWO_QUESTIONS = (*SEARCHES, search_for("Panthéon"), Turn(text="In Paris, too."))


@tool
def remember(fact: str, store: Annotated[BaseStore, InjectedStore()]) -> str:
    """Remember a fact."""
    store.put(("facts",), fact, {"fact": fact})
    return "noted"


@tool
def ask(what: str) -> str:
    """Ask a person."""
    return f"a person says {interrupt(what)}"


def saving(turns: Any = TWO_QUESTIONS, **options: Any) -> Callable[[], World]:
    """Worlds whose graphs have a checkpointer and a store."""
    others = (*World().others, remember, ask)

    def world() -> World:
        kept = {"checkpointer": InMemorySaver(), "store": InMemoryStore(), **options}
        return World(turns, others=others, options=kept)

    return world


def unnamed(writes: Any) -> Any:
    """A task's writes without the ids of its messages: the host's threads race for whether they have one yet."""
    if isinstance(writes, ToolMessage):
        return writes.model_copy(update={"id": None})
    if isinstance(writes, dict):
        return {name: unnamed(each) for name, each in writes.items()}
    return [unnamed(each) for each in writes] if isinstance(writes, list | tuple) else writes


def snapshot(state: StateSnapshot) -> StateSnapshot:
    """``state`` with unnamed results of its tasks."""
    return state._replace(tasks=tuple(task._replace(result=unnamed(task.result)) for task in state.tasks))


def kept(graph: Graph, config: RunnableConfig) -> list[Any]:
    """All that a graph has written: history, raw checkpoints, store."""
    assert isinstance(graph.checkpointer, InMemorySaver)
    assert graph.store is not None
    saved = [(each.checkpoint, each.metadata, unnamed(each.pending_writes)) for each in graph.checkpointer.list(config)]
    facts = [(item.key, item.value) for item in graph.store.search(("facts",))]
    return [*map(snapshot, graph.get_state_history(config)), *saved, facts]


async def akept(graph: Graph, config: RunnableConfig) -> list[Any]:
    """:func:`kept` through the async methods."""
    history = [snapshot(each) async for each in graph.aget_state_history(config)]
    return [snapshot(await graph.aget_state(config)), *history, *kept(graph, config)]


def answers(durability: Any) -> Style:
    """One question, streamed."""

    def call(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
        parts = list(graph.stream(state, config, stream_mode=EVERYTHING, durability=durability))
        return [*parts, *kept(graph, config)]

    return Style(f"answers-{durability}", call, streams_anyway=True)


def answers_in_loop(durability: Any) -> Style:
    """One question, streamed in an event loop."""

    async def call(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
        stream = graph.astream(state, config, stream_mode=EVERYTHING, durability=durability)
        return [*[part async for part in stream], *await akept(graph, config)]

    return Style(f"answers-in-loop-{durability}", call, streams_anyway=True)


def _goes_on(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
    """A second question in the same thread, after the state was edited by hand."""
    graph.invoke(state, config)
    graph.update_state(config, {"messages": [HumanMessage("Take your time.", id="aside")]})
    return [graph.invoke({"messages": [HumanMessage("And the Panthéon?", id="next")]}, config), *kept(graph, config)]


def _before(graph: Graph, config: RunnableConfig, node: str) -> StateSnapshot:
    history: list[StateSnapshot] = list(graph.get_state_history(config))
    found: StateSnapshot = next(each for each in reversed(history) if node in each.next)
    return found


def _goes_back(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
    """From the first checkpoint before the tools, and from the one before the model."""
    graph.invoke(state, config)
    model = "model" if "model" in graph.nodes else "agent"
    again = [graph.invoke(None, _before(graph, config, node).config) for node in ("tools", model)]
    return [*again, *kept(graph, config)]


def _forks(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
    """Another question in place of the first, from the checkpoint before the model."""
    graph.invoke(state, config)
    model = "model" if "model" in graph.nodes else "agent"
    fork = _before(graph, config, model).config
    asked = graph.update_state(fork, {"messages": [HumanMessage("And where is the other?", id="question")]})
    return [graph.invoke(None, asked), *kept(graph, config)]


async def _forks_in_loop(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
    await graph.ainvoke(state, config)
    model = "model" if "model" in graph.nodes else "agent"
    fork = _before(graph, config, model).config
    asked = await graph.aupdate_state(fork, {"messages": [HumanMessage("And where is the other?", id="question")]})
    return [await graph.ainvoke(None, asked), *await akept(graph, config)]


def _stops_before_tools(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
    """Interrupted before the tools at the caller's wish, then sent on."""
    parts = [graph.invoke(state, config, interrupt_before=["tools"]), snapshot(graph.get_state(config))]
    return [*parts, graph.invoke(None, config), *kept(graph, config)]


def _stops_after_model(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
    """Interrupted after every node, and sent on until the end."""
    parts = [graph.invoke(state, config, interrupt_after="*")]
    while graph.get_state(config).next:
        parts.append(graph.invoke(None, config, interrupt_after="*"))
    return [*parts, *kept(graph, config)]


def _resumes(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
    """A person is asked inside a tool, and answers."""
    parts = list(graph.stream(state, config, stream_mode=EVERYTHING))
    stopped = snapshot(graph.get_state(config))
    resumed = list(graph.stream(Command(resume="go on"), config, stream_mode=EVERYTHING))
    return [*parts, stopped, *resumed, *kept(graph, config)]


async def _resumes_in_loop(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
    parts = [part async for part in graph.astream(state, config, stream_mode=EVERYTHING)]
    stopped = snapshot(await graph.aget_state(config))
    stream = graph.astream(Command(resume="go on"), config, stream_mode=EVERYTHING)
    return [*parts, stopped, *[part async for part in stream], *await akept(graph, config)]


STORIES = [
    *(make(mode) for make in (answers, answers_in_loop) for mode in ("sync", "async", "exit")),
    Style("goes on", _goes_on),
    Style("goes back", _goes_back),
    Style("forks", _forks),
    Style("forks in loop", _forks_in_loop),
]
SAVED = ("agent", "react_v2", "drawn")


@pytest.mark.parametrize(("kind", "story"), [*itertools.product(SAVED, STORIES)], ids=lambda each: _id(each))
def test_checkpoints_are_equal(kind: str, story: Style) -> None:
    """The same checkpoints, step by step, however often the graph is taken back, forked or edited by hand."""
    report = compare(KINDS[kind], story, saving())

    assert report.served >= 2


def _id(value: str | Style) -> str:
    return value.name if isinstance(value, Style) else value


@pytest.mark.parametrize("story", [answers("sync"), answers_in_loop("async")], ids=_id)
def test_what_tools_put_into_the_store_is_equal(story: Style) -> None:
    """A tool with an injected store stands beside the one that is searched early."""
    turns = (search_for("Eiffel Tower"), Turn(calls=[Call("remember", {"fact": "It is tall."})]), Turn(text="Noted."))

    assert compare(agent, story, saving(turns)).served == 1


ASKING = (search_for("Eiffel Tower"), Turn(calls=[Call("ask", {"what": "May I?"})]), search_for("Louvre Museum"))


@pytest.mark.parametrize("kind", SAVED)
@pytest.mark.parametrize("resumes", [_resumes, _resumes_in_loop])
def test_an_interrupt_inside_a_tool_is_resumed_alike(kind: str, resumes: Any) -> None:
    """The person's answer reaches the tool that asked, and the run goes on to search early."""
    turns = (*ASKING, Turn(text="They stand in Paris."))

    assert compare(KINDS[kind], Style("resumes", resumes, streams_anyway=True), saving(turns)).served == 2


@pytest.mark.parametrize("stops", [_stops_before_tools, _stops_after_model])
def test_an_interrupt_that_the_caller_asks_for_is_kept(stops: Any) -> None:
    """While a person may want to look at each call before it runs, nothing runs early."""
    report = compare(drawn, Style("stops", stops), saving(), everything=stops is _stops_after_model)

    assert report.served == (1 if stops is _stops_before_tools else 0)


@pytest.mark.parametrize("option", ["interrupt_before", "interrupt_after"])
def test_an_interrupt_that_is_compiled_in_is_kept(option: str) -> None:
    """A graph that stops between its nodes is refused, and behaves as before."""

    def call(graph: Graph, state: Any, config: RunnableConfig) -> list[Any]:
        parts = [graph.invoke(state, config)]
        while graph.get_state(config).next:
            parts.append(graph.invoke(None, config))
        return [*parts, *kept(graph, config)]

    report = compare(drawn, Style("compiled in", call), saving(**{option: "*"}), everything=True)

    assert report.speculations == 0
    assert report.refusals
