"""``Prefetcher`` by hand: tools and retrievers called in a node function, or without any graph."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool, tool
from langgraph.graph import START, MessagesState, StateGraph

from langgraph_prefetch import Prefetcher, ToolPolicy
from langgraph_prefetch.errors import UnknownToolError
from langgraph_prefetch.events import RunEnded
from langgraph_prefetch.testing.models import ScriptedChatModel, script_by_question
from langgraph_prefetch.testing.tools import CountingSearch
from tests.graph.cases.rigs import DONE, calls, model, of_kind, thinks, watch

QUESTION: Any = [HumanMessage("go")]


def call_of(message: AIMessage) -> Any:
    return {**message.tool_calls[0], "type": "tool_call"}


@tool
def rows(query: str) -> list[dict[str, int]]:
    """Look up rows."""
    return [{query: 1}, {query: 2}]


@tool
def nothing(query: str) -> None:
    """Look up nothing."""


@tool
def text(query: str) -> str:
    """Look up a text."""
    return f"about {query}"


@tool(response_format="content_and_artifact")
def with_artifact(query: str) -> tuple[str, list[int]]:
    """Look up a text and its sources."""
    return f"about {query}", [1, 2]


TOOLS = (text, rows, nothing, with_artifact)


def plain(result: Any) -> Any:
    return result.model_dump(exclude={"id"}) if isinstance(result, ToolMessage) else result


def heard(prefetch: Prefetcher, llm: ScriptedChatModel) -> AIMessage:
    """One model call inside a run, which the prefetcher hears."""
    return llm.invoke(QUESTION, {"callbacks": [prefetch.handler()]}, stream=True)


@pytest.mark.parametrize("inner", TOOLS, ids=lambda each: each.name)
@pytest.mark.parametrize("form", ["arguments", "text", "call"])
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_tool_gives_what_it_gave(inner: BaseTool, form: str, is_async: bool) -> None:
    """Served or run, by arguments, by a text or as a tool call: the result is the bare tool's, whatever its type."""
    prefetch = Prefetcher([inner.name])
    early = prefetch.tool(inner)
    llm = model(thinks("alpha", tool=inner.name))
    with prefetch.run():
        message = heard(prefetch, llm)
        given = {"arguments": {"query": "alpha"}, "text": "alpha", "call": call_of(message)}[form]
        expected = plain(inner.invoke(given))
        results = [asyncio.run(early.ainvoke(given)) if is_async else early.invoke(given) for _ in range(2)]
    assert [plain(result) for result in results] == [expected, expected]
    report = prefetch.report()
    # A plain call of a tool with an artifact drops it, so there is nothing to compare a speculation with.
    by_name = inner.name != "with_artifact" or form == "call"
    assert (report.served, report.search_calls) == ((1, 2) if by_name else (0, 0))


def test_tool_looks_like_the_one_it_stands_for() -> None:
    """Name, description and schema are the tool's own, so that a model is told the same."""
    early = Prefetcher(["text"]).tool(text)
    assert (early.name, early.description, early.args) == (text.name, text.description, text.args)
    assert early.tool_call_schema.model_json_schema() == text.tool_call_schema.model_json_schema()  # type: ignore[union-attr]


def test_two_tools_of_one_name_are_two() -> None:
    """A tool made anew per request never gives what another of its name found: its owner may differ (39)."""

    def of(owner: str) -> BaseTool:
        def search(query: str) -> str:
            """Search."""
            return f"{query} of {owner}"

        return tool(search)

    prefetch = Prefetcher(["search"], reuse_seconds=60.0)
    adas = prefetch.tool(of("ada"))
    bobs = prefetch.tool(of("bob"))
    with prefetch.run():
        heard(prefetch, model(thinks("alpha")))
        assert adas.invoke({"query": "alpha"}) == "alpha of ada"
        assert bobs.invoke({"query": "alpha"}) == "alpha of bob"
    equal = Prefetcher([ToolPolicy(name="search", identity="docs")], reuse_seconds=60.0)
    first, second = equal.tool(of("one")), equal.tool(of("other"))
    with equal.run():
        assert [each.invoke({"query": "alpha"}) for each in (first, second)] == ["alpha of one"] * 2


def test_two_prefetchers_in_one_context() -> None:
    """A call belongs to the run of the prefetcher that made its tool, also where another's run is the inner one."""
    search, other = CountingSearch(), CountingSearch(name="other")
    mine, theirs = Prefetcher(["search"]), Prefetcher(["other"])
    early = mine.tool(search.tool)
    theirs.tool(other.tool)
    with mine.run(), theirs.run():
        heard(mine, model(thinks("alpha")))
        early.invoke({"query": "alpha"})
    assert (mine.report().served, theirs.report().search_calls) == (1, 0)


def test_outside_a_run() -> None:
    """Where no run is known the tool is just the tool."""
    search = CountingSearch()
    prefetch = Prefetcher(["search"])
    assert prefetch.tool(search.tool).invoke({"query": "alpha"}) == "5 passages about alpha"
    assert prefetch.report().search_calls == 0


def test_unnamed_tool() -> None:
    """A tool or retriever that was not named is an error that says which were."""
    prefetch = Prefetcher(["search", "browse"])
    with pytest.raises(UnknownToolError, match=r"no tool named 'text'.*browse, search"):
        prefetch.tool(text)
    with pytest.raises(UnknownToolError):
        prefetch.retriever(Docs())


class Docs(BaseRetriever):
    """Two documents to each query."""

    asked: list[str] = []  # noqa: RUF012 - a pydantic field

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        self.asked.append(query)
        return [Document(f"{query} {number}", metadata={"number": number}) for number in range(2)]


def docs() -> Docs:
    return Docs(tags=["mine"], metadata={"index": "main"}, asked=[])


async def events_of(retriever: Any, prefetch: Prefetcher | None) -> list[Any]:
    async def ask(_: Any) -> Any:
        return await retriever.ainvoke("alpha")

    graph = StateGraph(MessagesState)

    async def node(state: MessagesState) -> dict[str, Any]:
        await model(calls("alpha", tool="docs")).ainvoke(state["messages"], stream=True)
        await ask(None)
        return {}

    graph.add_node("node", node)
    graph.add_edge(START, "node")
    compiled = graph.compile()
    config: Any = {"callbacks": [prefetch.handler()] if prefetch else []}
    return [
        (event["event"], event["name"], event.get("tags"), event["data"], event["metadata"].get("index"))
        async for event in compiled.astream_events({"messages": QUESTION}, config, version="v2")
        if "retriever" in event["event"]
    ]


async def test_retriever_fires_the_events_it_fired() -> None:
    """A served retriever call fires the bare one's events: name, tags, metadata, query and documents."""
    bare, inner = docs(), docs()
    prefetch = Prefetcher(["docs"])
    early = prefetch.retriever(inner)
    expected = await events_of(bare, None)
    assert [name for name, *_ in expected] == ["on_retriever_start", "on_retriever_end"]
    assert await events_of(early, prefetch) == expected
    assert prefetch.report().served_sealed == 1
    assert inner.asked == ["alpha"]


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_retriever_gives_what_it_gave(is_async: bool) -> None:
    """Documents served are the documents found, and a second call finds them anew."""
    inner = docs()
    prefetch = Prefetcher(["docs"])
    early = prefetch.retriever(inner)
    with prefetch.run():
        heard(prefetch, model(thinks("alpha", tool="docs")))
        found = [asyncio.run(early.ainvoke("alpha")) if is_async else early.invoke("alpha") for _ in range(2)]
    assert found == [docs().invoke("alpha")] * 2
    assert (prefetch.report().served, inner.asked) == (1, ["alpha", "alpha"])


def in_nodes(prefetch: Prefetcher, early: BaseTool, llm: ScriptedChatModel) -> Any:
    """A graph whose only node thinks and searches by itself, as many do."""

    def node(state: MessagesState) -> dict[str, Any]:
        message = llm.invoke(state["messages"])
        return {"messages": [message, early.invoke(call_of(message))]}

    graph = StateGraph(MessagesState)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    return graph.compile().with_config(callbacks=[prefetch.handler()])


WORDS = ("alpha", "beta", "gamma", "delta")


async def test_one_handler_for_concurrent_runs() -> None:
    """One handler hears any number of runs at once; each opens and closes its own, and gets its own answers."""
    search = CountingSearch(answer=lambda query, k: f"found {query}")
    prefetch = Prefetcher(["search"])
    events = watch(prefetch)
    scripts = {word: [thinks(word), DONE] for word in WORDS}
    llm = model(seconds_per_token=0.002).model_copy(update={"script": script_by_question(scripts)})
    graph = in_nodes(prefetch, prefetch.tool(search.tool), llm)
    results = await asyncio.gather(*(graph.ainvoke({"messages": [("user", word)]}) for word in WORDS * 3))
    assert [result["messages"][-1].text for result in results] == [f"found {word}" for word in WORDS * 3]
    report = prefetch.report()
    assert (report.runs, report.served, report.unsettled, report.troubles) == (12, 12, 0, 0)
    assert len(of_kind(events, RunEnded)) == 12


def test_handler_made_before_the_run() -> None:
    """A handler kept for the life of the process belongs, in each context, to the run that is open there."""
    search = CountingSearch()
    prefetch = Prefetcher(["search"])
    handler, early = prefetch.handler(), prefetch.tool(search.tool)
    answers: list[str] = []

    def one(word: str) -> None:
        with prefetch.run():
            model(thinks(word)).invoke(QUESTION, {"callbacks": [handler]}, stream=True)
            answers.append(str(early.invoke({"query": word})))

    threads = [threading.Thread(target=one, args=(word,)) for word in WORDS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == sorted(f"5 passages about {word}" for word in WORDS)
    report = prefetch.report()
    assert (report.runs, report.served, report.unsettled) == (4, 4, 0)


def test_model_called_on_its_own() -> None:
    """A model called outside any chain is a run of its own, which ends with it and leaves nothing open."""
    search = CountingSearch()
    prefetch = Prefetcher(["search"])
    prefetch.admit(search.tool)
    events = watch(prefetch)
    handler = prefetch.handler()
    for _ in range(3):
        model(thinks("alpha")).invoke(QUESTION, {"callbacks": [handler]}, stream=True)
    assert len(of_kind(events, RunEnded)) == 3
    assert prefetch.report().unsettled == 0


def test_run_that_raises() -> None:
    """``with prefetcher.run():`` ends its run also when the code inside fails."""
    prefetch = Prefetcher(["search"])
    events = watch(prefetch)

    def fail() -> Iterator[None]:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"), prefetch.run():
        fail()
    assert len(of_kind(events, RunEnded)) == 1


def test_pause_is_a_kill_switch() -> None:
    """After ``pause()`` nothing starts and calls run their tools; ``resume()`` takes it back."""
    search = CountingSearch()
    prefetch = Prefetcher(["search"])
    early = prefetch.tool(search.tool)
    flips: list[Callable[[], None]] = [prefetch.pause, prefetch.resume]
    served = []
    for flip in flips:
        flip()
        with prefetch.run():
            heard(prefetch, model(thinks("alpha")))
            early.invoke({"query": "alpha"})
        served.append(prefetch.report().served)
    assert served == [0, 1]
