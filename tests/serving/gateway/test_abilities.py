"""What a component can, it can behind a gateway: prefetch sees through to it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool, create_retriever_tool, tool
from langchain_core.vectorstores import InMemoryVectorStore
from langgraph.prebuilt import InjectedState, ToolRuntime
from pydantic import BaseModel

from langgraph_prefetch import NearMiss, Prefetcher, ToolPolicy, prefetcher_of, with_prefetch
from langgraph_prefetch.events import NearAnswered
from langgraph_prefetch.graph.caller import GraphCaller
from langgraph_prefetch.graph.survey import refusal_of
from langgraph_prefetch.graph.tools import LangChainTool
from langgraph_prefetch.handing import behind, has_own_async
from langgraph_prefetch.ports import HasEpoch
from langgraph_prefetch.serving.gateway import VariantSplit, gateway
from tests.graph.cases.rigs import DONE, GO, calls, created, model, of_kind, thinks, tool_texts
from tests.graph.near.rigs import NOTHING_EARLY, TEXTS, K, Searching, Words, memory, near, told, warmed
from tests.graph.near.rigs import question as asked
from tests.serving.gateway.parts import Docs


class Dated(StructuredTool):
    """Tells what it is told to."""

    now: Any = 1

    def epoch(self, caller: Any) -> Hashable | None:
        return self.now() if callable(self.now) else self.now  # type: ignore[no-any-return]

    async def aepoch(self, caller: Any) -> Hashable | None:
        return self.epoch(caller)


class DatedDocs(Docs):
    """A retriever likewise."""

    now: Any = 1

    def epoch(self, caller: Any) -> Hashable | None:
        return self.now  # type: ignore[no-any-return]

    async def aepoch(self, caller: Any) -> Hashable | None:
        return self.epoch(caller)


def dated(now: Any, ran: list[str] | None = None) -> BaseTool:
    def search(query: str) -> str:
        """Search for passages."""
        if ran is not None:
            ran.append(query)
        return f"found {query}"

    return Dated.from_function(search, now=now)


def caller(user: str = "") -> Any:
    return GraphCaller(config={"configurable": {"user_id": user}}, runtime=None, loop=None)


@pytest.mark.parametrize("component", [dated(7), DatedDocs(now=7)])
async def test_its_epoch_is_handed_on(component: Any) -> None:
    """A gated component tells what the component tells, and one that tells nothing does not seem to."""
    gated: Any = gateway(component, fallback=Docs() if isinstance(component, Docs) else lambda given: "none")
    assert isinstance(gated, HasEpoch)
    assert gated.epoch(caller()) == await gated.aepoch(caller()) == 7
    component.now = None
    assert gated.epoch(caller()) is None
    for silent in (Docs(), search_of("x")):
        assert not isinstance(gateway(silent), HasEpoch)


def test_epochs_of_variants_are_not_each_others() -> None:
    """Equal numbers of two variants are two epochs; a variant that tells none stands still."""
    split = VariantSplit(name="epochs", variants={"new": DatedDocs(now=7), "still": Docs()}, key="user_id")
    gated: Any = gateway(DatedDocs(now=7), variants=split)
    found = {gated.epoch(caller(f"u{number}")) for number in range(60)}
    assert found == {("default", 7), ("new", 7), ("still", 0)}


@pytest.mark.parametrize("moves", [False, True])
def test_a_result_that_was_overtaken_answers_nothing(moves: bool) -> None:
    """Prefetch over a gated tool notices a write between the early search and the call, as without a gateway."""
    ran: list[str] = []
    component = dated(lambda: len(ran) if moves else 1, ran)  # every search moves it: the call's is another than before
    wrapped = with_prefetch(created(model(thinks("alpha"), DONE), [gateway(component)]), ["search"])
    assert tool_texts(wrapped.invoke(GO)) == ["found alpha"]
    assert prefetcher_of(wrapped).report().served == (0 if moves else 1)
    assert len(ran) == (2 if moves else 1)


@pytest.mark.parametrize("down", [False, True])
def test_an_answer_of_a_stand_in_is_none_to_reuse(down: bool) -> None:
    """Where calls may be answered with what earlier ones gave, the second call asks the component, which is back."""
    ran: list[str] = []

    def search(query: str) -> str:
        """Search for passages."""
        ran.append(query)
        if down and len(ran) == 1:
            raise ConnectionError("down")
        return f"found {query}"

    gated = gateway(StructuredTool.from_function(search), fallback=lambda arguments: "no search")
    llm = model(calls("alpha"), calls("alpha"), DONE)
    wrapped = with_prefetch(created(llm, [gated]), ["search"], reuse_seconds=60.0, budgets=NOTHING_EARLY)
    assert tool_texts(wrapped.invoke(GO)) == (["no search", "found alpha"] if down else ["found alpha"] * 2)
    assert prefetcher_of(wrapped).report().served_reuse == (0 if down else 1)


async def test_what_is_async_alone_is_awaited_early() -> None:
    """Such tools and retrievers raise when they are invoked."""

    async def search(query: str) -> str:
        """Search for passages."""
        return f"found {query}"

    component = StructuredTool.from_function(coroutine=search, name="search")
    gated = gateway(component)
    assert has_own_async(gated)
    wrapped = with_prefetch(created(model(thinks("alpha"), DONE), [gated]), ["search"])
    assert tool_texts(await wrapped.ainvoke(GO)) == ["found alpha"]
    assert prefetcher_of(wrapped).report().served == 1

    class Awaited(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
            raise NotImplementedError("async only")

        async def _aget_relevant_documents(
            self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
        ) -> list[Document]:
            return [Document(query)]

    early = Prefetcher(["docs"])
    docs = early.retriever(gateway(Awaited()), name="docs")
    with early.run({}):
        assert (await docs.ainvoke("beta"))[0].page_content == "beta"
    assert has_own_async(gateway(Awaited()))
    assert not has_own_async(gateway(Docs()))


def test_near_misses_are_proved_behind_a_gateway() -> None:
    """As they are without one."""
    searching = Searching(memory())
    searching.tool = gateway(searching.tool)
    graph, prefetch, _ = warmed(searching, near(searching.source), "market of Gorsley")
    graph.invoke(asked())
    assert prefetch.report().near_proved == 1


def test_a_gated_retriever_is_the_store_that_it_searches() -> None:
    """Its embedder, its k, its rendering and the passages around an anchor are found as they are without a gateway."""
    store = InMemoryVectorStore(Words())
    store.add_texts(list(TEXTS), ids=[f"p{number}" for number in range(len(TEXTS))])
    retriever = store.as_retriever(search_kwargs={"k": K})
    came = []
    for source in (retriever, gateway(retriever)):
        searching = Searching(memory())
        searching.tool = create_retriever_tool(source, "search", "Search for passages.")
        if source is not retriever:
            searching.tool = gateway(searching.tool)
        graph, prefetch, events = warmed(searching, NearMiss(source=source, n=200), "market of Gorsley")
        graph.invoke(asked())
        told(events, NearAnswered, 1)
        came.append([(each.tier, each.served) for each in of_kind(events, NearAnswered)])
        assert prefetch.report().troubles == 0
    assert came[0] == came[1]


def test_what_it_reads_besides_is_seen() -> None:
    """State that is injected, and a configuration of which a worker elsewhere would have to be told."""

    @tool
    def stateful(query: str, state: Annotated[dict[str, Any], InjectedState]) -> str:
        """Search."""
        return query

    @tool
    def configured(query: str, config: RunnableConfig) -> str:
        """Search."""
        return query

    assert "injected" in (refusal_of(gateway(stateful), reads_runtime=True) or "")
    assert refusal_of(gateway(search_of("x")), reads_runtime=False) is None
    seen = LangChainTool(gateway(configured), ToolPolicy(name="configured"), refuse=lambda tool, reason: None)
    assert "'config'" in (seen.reads_beyond(()) or "")
    assert seen.reads_beyond(("user",)) is None
    assert behind(gateway(gateway(configured))) == (configured,)


def test_what_the_host_injects_reaches_it() -> None:
    """Also where the tool's own schema says nothing of it."""

    class Query(BaseModel):
        query: str

    @tool(args_schema=Query)
    def search(query: str, runtime: ToolRuntime[Any, Any]) -> str:
        """Search for passages."""
        return f"{query} for {runtime.tool_call_id}"

    bare, gated = (create_agent(model(thinks("alpha"), DONE), [each]).invoke(GO) for each in (search, gateway(search)))
    assert tool_texts(gated) == tool_texts(bare)


async def test_run_hands_on_the_id_of_the_call() -> None:
    """A tool that is run with one gives a message, with a text or with arguments."""
    gated = gateway(search_of("x"))
    for given in ("alpha", {"query": "alpha"}):
        said = gated.run(given, tool_call_id="1", tags=["here"])
        assert isinstance(said, ToolMessage)
        assert (said.tool_call_id, said.content) == ("1", "x: alpha")
        assert (await gated.arun(given, tool_call_id="2")).tool_call_id == "2"
    assert gated.run({"query": "alpha"}) == "x: alpha"


def search_of(text: str) -> BaseTool:
    @tool
    def search(query: str) -> str:
        """Search for passages."""
        return f"{text}: {query}"

    return search
