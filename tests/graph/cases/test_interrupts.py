"""Cases B, of pauses: what is interrupted and comes again, and calls a person has to approve."""

import asyncio
from typing import Any

import pytest
from langchain.agents.middleware import HumanInTheLoopMiddleware, wrap_tool_call
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphInterrupt
from langgraph.types import Command, interrupt

from langgraph_prefetch import PrefetchMiddleware, prefetcher_of, with_prefetch
from langgraph_prefetch.testing.models import Call, Turn
from langgraph_prefetch.testing.tools import CountingSearch
from tests.graph.cases.rigs import DONE, GO, KINDS, created, model, plain, thinks, tool_texts, until

THREAD: Any = {"configurable": {"thread_id": "1"}}
BOTH = Turn(
    reasoning="I need to search for alpha. Then I ask. ",
    calls=[Call("search", {"query": "alpha"}), Call("ask_human", {"question": "may I?"})],
)


@tool
def ask_human(question: str) -> str:
    """Ask a person."""
    return f"they said {interrupt(question)}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seconds_per_token", [0.001, 0.005], ids=["quickly", "slowly"])
def test_sibling_that_interrupts(kind: str, seconds_per_token: float) -> None:
    """Where a sibling asks a person, the search beside it runs once before and after the answer together (26)."""
    search = CountingSearch()
    llm = model(BOTH, DONE, seconds_per_token=seconds_per_token)
    graph = KINDS[kind](llm, [search.tool, ask_human], checkpointer=InMemorySaver())
    wrapped = with_prefetch(graph, ["search"])
    paused = wrapped.invoke(GO, THREAD)
    assert [each.value for each in paused["__interrupt__"]] == ["may I?"]
    result = wrapped.invoke(Command(resume="yes"), THREAD)
    assert tool_texts(result) == ["5 passages about alpha", "they said yes"]
    assert search.queries == ["alpha"]
    report = prefetcher_of(wrapped).report()
    assert report.speculations == 1
    # Where the whole node comes again, so does the call, and it is served again.
    assert report.served == report.search_calls == (2 if kind in ("drawn", "react v1") else 1)
    assert report.served_reuse == report.served - 1


@pytest.mark.parametrize("kind", KINDS)
async def test_sibling_that_interrupts_before_the_search_is_back(kind: str) -> None:
    """The same in an event loop, with the sibling first and a search still under way when it interrupts (26)."""
    search = CountingSearch(style="async", seconds=0.02)
    both = Turn(calls=[Call("ask_human", {"question": "may I?"}), Call("search", {"query": "alpha"})])
    llm = model(both, DONE, seconds_per_token=0.001)
    wrapped = with_prefetch(KINDS[kind](llm, [search.tool, ask_human], checkpointer=InMemorySaver()), ["search"])
    assert "__interrupt__" in await wrapped.ainvoke(GO, THREAD)
    async with asyncio.timeout(20):
        while len(asyncio.all_tasks()) > 1:  # noqa: ASYNC110 - the search goes on without its sibling
            await asyncio.sleep(0.001)
    result = await wrapped.ainvoke(Command(resume="yes"), THREAD)
    assert tool_texts(result) == ["they said yes", "5 passages about alpha"]
    assert search.queries == ["alpha"]


def asks_first(query: str, k: int) -> str:
    return f"{query}: {interrupt('which one?')}"


@pytest.mark.parametrize("kind", KINDS)
def test_search_that_interrupts(kind: str) -> None:
    """A search that asks a person itself is never answered early; its question and the answer pass untouched (27)."""
    search = CountingSearch(answer=asks_first)
    graph = KINDS[kind](model(thinks("alpha"), DONE), [search.tool], checkpointer=InMemorySaver())
    wrapped = with_prefetch(graph, ["search"])
    paused = wrapped.invoke(GO, THREAD)
    assert [each.value for each in paused["__interrupt__"]] == ["which one?"]
    result = wrapped.invoke(Command(resume="this one"), THREAD)
    assert tool_texts(result) == ["alpha: this one"]
    assert prefetcher_of(wrapped).report().served == 0


def test_interrupts_are_no_errors_of_tools() -> None:
    """The signal that stops a graph reaches the user's own wrapper as what it is, once (27)."""
    seen: list[BaseException] = []

    @wrap_tool_call
    def noting(request: Any, execute: Any) -> Any:
        try:
            return execute(request)
        except BaseException as error:
            seen.append(error)
            raise

    search = CountingSearch(answer=asks_first)
    llm = model(thinks("alpha"), DONE)
    graph = created(llm, [search.tool], middleware=[noting], checkpointer=InMemorySaver())
    wrapped = with_prefetch(graph, ["search"])
    assert "__interrupt__" in wrapped.invoke(GO, THREAD)
    assert [type(error) for error in seen] == [GraphInterrupt]


def approving(*names: str) -> HumanInTheLoopMiddleware[Any, Any, Any]:
    return HumanInTheLoopMiddleware(interrupt_on=dict.fromkeys(names, True))


def reviewed(decision: dict[str, Any]) -> Command[Any]:
    return Command(resume={"decisions": [decision]})


EDIT = {"type": "edit", "edited_action": {"name": "search", "args": {"query": "beta"}}}


def by_wrapping(search: CountingSearch, *middleware: Any, **options: Any) -> tuple[Any, Any]:
    graph = created(model(thinks("alpha"), DONE), [search.tool], middleware=middleware, **options)
    wrapped = with_prefetch(graph, ["search"])
    return wrapped, prefetcher_of(wrapped)


def by_middleware(search: CountingSearch, *middleware: Any, **options: Any) -> tuple[Any, Any]:
    ours = PrefetchMiddleware(["search"])
    graph = created(model(thinks("alpha"), DONE), [search.tool], middleware=[*middleware, ours], **options)
    return graph, ours.prefetch


each_way = pytest.mark.parametrize("way", [by_wrapping, by_middleware])


@each_way
def test_approval_by_middleware(way: Any) -> None:
    """A search a person approves never starts early: a rejected query is not sent, an edited one is (47)."""
    search = CountingSearch()
    graph, prefetch = way(search, approving("search"), checkpointer=InMemorySaver())
    assert "asks for approval" in dict(prefetch.report().refusals)["search"]
    assert "__interrupt__" in graph.invoke(GO, THREAD)
    assert search.queries == []
    graph.invoke(reviewed({"type": "reject", "message": "no"}), THREAD)
    assert search.queries == []
    other: Any = {"configurable": {"thread_id": "2"}}
    graph.invoke(GO, other)
    [answer] = tool_texts(graph.invoke(reviewed(EDIT), other))
    assert answer.endswith("5 passages about beta")
    assert search.queries == ["beta"]
    assert prefetch.report().speculations == 0


@each_way
def test_approval_of_another_tool(way: Any) -> None:
    """Approval of one tool does not keep another from running early, and an edited call gets its own answer (47)."""
    search = CountingSearch()
    graph, prefetch = way(search, approving("ask_human"), checkpointer=InMemorySaver())
    assert tool_texts(graph.invoke(GO, THREAD)) == ["5 passages about alpha"]
    assert prefetch.report().served == 1


class Rewriting(HumanInTheLoopMiddleware[Any, Any, Any]):
    """Rewrites the query after the model, as a person's edit would, where nothing tells that it may."""

    def __init__(self) -> None:
        super().__init__(interrupt_on={})

    def after_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        message: AIMessage = state["messages"][-1]
        if not message.tool_calls:
            return None
        call = {**message.tool_calls[0], "args": {"query": "beta"}}
        return {"messages": [message.model_copy(update={"tool_calls": [call]})]}


@each_way
def test_edited_query_gets_its_own_answer(way: Any) -> None:
    """Whoever rewrites a call after the model: the first query's answer is never given to the second (47)."""
    search = CountingSearch()
    graph, prefetch = way(search, Rewriting())
    assert tool_texts(graph.invoke(GO)) == ["5 passages about beta"]
    until(lambda: len(search.queries) == 2)
    assert sorted(search.queries) == ["alpha", "beta"]
    assert prefetch.report().served == 0


@each_way
@pytest.mark.parametrize("setting", [{"interrupt_before": ["tools"]}, {"interrupt_after": ["model"]}], ids=str)
def test_interrupted_by_how_it_was_compiled(way: Any, setting: dict[str, Any]) -> None:
    """A graph compiled to stop before its tools is stopped for someone to look: nothing is sent before (47)."""
    search = CountingSearch()
    graph, prefetch = way(search, checkpointer=InMemorySaver(), **setting)
    graph.invoke(GO, THREAD)
    assert search.queries == []
    assert "interrupted" in dict(prefetch.report().refusals)["search"]
    assert tool_texts(graph.invoke(None, THREAD)) == ["5 passages about alpha"]


@pytest.mark.parametrize("setting", [{"interrupt_before": ["tools"]}, {"interrupt_after": "*"}], ids=str)
async def test_interrupted_by_how_it_is_called(setting: dict[str, Any]) -> None:
    """The same where one call alone asks for the stop; calls that do not are served (47)."""
    search = CountingSearch()
    graph, prefetch = by_wrapping(search, checkpointer=InMemorySaver())
    await graph.ainvoke(GO, THREAD, **setting)
    assert search.queries == []
    assert prefetch.report().speculations == 0
    assert tool_texts(await graph.ainvoke(None, THREAD)) == ["5 passages about alpha"]
    assert tool_texts(await graph.ainvoke(GO, {"configurable": {"thread_id": "2"}})) == ["5 passages about alpha"]
    assert prefetch.report().served == 1


def test_resumed_conversation_equals_the_bare_one() -> None:
    """Asked, answered and resumed, the conversation is the bare one's (26, 27)."""
    conversations = []
    for wrap in (False, True):
        search = CountingSearch()
        graph = created(model(BOTH, DONE), [search.tool, ask_human], checkpointer=InMemorySaver())
        graph = with_prefetch(graph, ["search"]) if wrap else graph
        graph.invoke(GO, THREAD)
        conversations.append(plain(graph.invoke(Command(resume="yes"), THREAD)["messages"]))
    assert conversations[0] == conversations[1]
