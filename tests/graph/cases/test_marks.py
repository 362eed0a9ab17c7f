"""A served call says so in a trace, if and only if the user asked for it."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from langgraph_prefetch import Prefetcher, PrefetchMiddleware, with_prefetch
from langgraph_prefetch.events import SearchCallAnswered
from langgraph_prefetch.testing.tools import CountingSearch
from tests.graph.cases.rigs import DONE, GO, KINDS, calls, created, model, of_kind, plain, thinks, watch


class Metadata(BaseCallbackHandler):
    """Keeps the metadata that each tool or retriever run begins with."""

    def __init__(self) -> None:
        self.runs: list[dict[str, Any]] = []

    def on_tool_start(self, *args: Any, metadata: dict[str, Any] | None = None, **kwargs: Any) -> None:
        self.runs.append(metadata or {})

    on_retriever_start = on_tool_start


def ours(metadata: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in metadata.items() if name.startswith("langgraph_prefetch")}


def run(kind: str, **options: Any) -> tuple[list[dict[str, Any]], Any, list[SearchCallAnswered]]:
    """The metadata of the one search's run, the conversation, and how the call was answered."""
    search = CountingSearch().tool
    search.metadata = {"team": "maps"}
    agent = with_prefetch(KINDS[kind](model(thinks("Lake Baikal"), DONE), [search]), tools=["search"], **options)
    events, heard = watch(agent), Metadata()
    parts = list(agent.stream(GO, {"callbacks": [heard]}, stream_mode="values"))
    return heard.runs, parts[-1], of_kind(events, SearchCallAnswered)


@pytest.mark.parametrize("kind", KINDS)
def test_a_served_call_is_marked_where_asked(kind: str) -> None:
    """The marks are the facts of the call's own event, beside the tool's metadata, and the messages stay the same."""
    (marked,), conversation, (answered,) = run(kind, mark_served=True)
    (bare,), same, _ = run(kind)
    assert answered.source is not None
    assert ours(marked) == {
        "langgraph_prefetch.served": True,
        "langgraph_prefetch.source": answered.source.value,
        "langgraph_prefetch.late": answered.late,
        "langgraph_prefetch.waited_seconds": round(answered.waited_seconds, 6),
        "langgraph_prefetch.hidden_seconds": round(answered.hidden_seconds, 6),
        "langgraph_prefetch.speculation_id": answered.speculation_id,
    }
    assert marked["team"] == bare["team"] == "maps"
    assert ours(bare) == {}
    assert plain(conversation["messages"]) == plain(same["messages"])


async def test_the_async_form_is_marked() -> None:
    """Both forms of the seam mark."""
    agent = with_prefetch(
        created(model(thinks("Lake Baikal"), DONE), [CountingSearch(style="both").tool]),
        tools=["search"],
        mark_served=True,
    )
    heard = Metadata()
    async for _ in agent.astream(GO, {"callbacks": [heard]}):
        pass
    assert [each["langgraph_prefetch.served"] for each in heard.runs] == [True]


def test_the_middleware_marks() -> None:
    """Each way in takes the option."""
    search = CountingSearch().tool
    agent = created(
        model(thinks("Lake Baikal"), DONE), [search], middleware=[PrefetchMiddleware(["search"], mark_served=True)]
    )
    heard = Metadata()
    list(agent.stream(GO, {"callbacks": [heard]}))
    assert [each["langgraph_prefetch.served"] for each in heard.runs] == [True]


def test_a_call_that_its_tool_ran_for_is_not_marked() -> None:
    """A miss is the bare call, metadata included."""
    agent = with_prefetch(
        created(model(calls("Lake Baikal"), DONE), [CountingSearch().tool]), tools=["search"], mark_served=True
    )
    agent.prefetch.pause()
    heard = Metadata()
    list(agent.stream(GO, {"callbacks": [heard]}))
    assert [ours(each) for each in heard.runs] == [{}]


class Shelf(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document(f"about {query}")]


def _tool(prefetcher: Prefetcher) -> Any:
    return prefetcher.tool(CountingSearch().tool)


def _retriever(prefetcher: Prefetcher) -> Any:
    return prefetcher.retriever(Shelf(name="search"), name="search")


@pytest.mark.parametrize("made", [_tool, _retriever])
def test_calls_by_hand_are_marked(made: Callable[[Prefetcher], Any]) -> None:
    """A tool or retriever that code calls itself says it too."""
    prefetcher = Prefetcher(["search"], mark_served=True)
    search, heard = made(prefetcher), Metadata()
    with prefetcher.run():
        list(model(thinks("Lake Baikal")).stream("go", {"callbacks": [prefetcher.handler()]}))
        search.invoke("Lake Baikal", {"callbacks": [heard]})
    assert [each.get("langgraph_prefetch.served") for each in heard.runs] == [True]
