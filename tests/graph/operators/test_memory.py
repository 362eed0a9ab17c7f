"""Memory's searches run early like any other; a write, by whomever, makes those under way answer nothing."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import BaseTool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.store.base import SearchOp
from langgraph.store.memory import InMemoryStore

from langgraph_prefetch import Prefetcher, prefetcher_of, with_prefetch
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.events import SearchCallAnswered
from langgraph_prefetch.graph.operators.epochs import EpochStore
from langgraph_prefetch.graph.operators.memory import Memory
from langgraph_prefetch.ports import Caller
from langgraph_prefetch.speculation.freshness import OUTDATED
from langgraph_prefetch.testing.models import ScriptedChatModel
from tests.graph.cases.rigs import DONE, held, model, of_kind, thinks, tool_texts, until, watch

ADA, BOB = ("memories", "ada"), ("memories", "bob")
GO: Any = {"messages": [("user", "go")]}
OF_ADA: Any = {"configurable": {"user": "ada"}}


class Searched(InMemoryStore):
    """Counts the searches that have been read; the answers of those in threads wait for the gate, if there is one."""

    def __init__(self) -> None:
        super().__init__()
        self.searches = 0
        self.gate: threading.Event | None = None

    def batch(self, ops: Any) -> Any:
        asked = list(ops)
        results = super().batch(asked)
        searched = any(isinstance(op, SearchOp) for op in asked)
        self.searches += searched
        if searched and self.gate is not None:
            self.gate.wait()
        return results

    async def abatch(self, ops: Any) -> Any:
        asked = list(ops)
        results = await super().abatch(asked)
        self.searches += any(isinstance(op, SearchOp) for op in asked)
        return results


def of_user(caller: Caller) -> tuple[str, ...]:
    return ("memories", caller.configurable["user"])


@pytest.fixture
def searched() -> Searched:
    return Searched()


@pytest.fixture
def store(searched: Searched) -> EpochStore:
    store = EpochStore(searched)
    store.put(ADA, "drink", {"text": "likes tea"})
    store.put(BOB, "drink", {"text": "likes beer"})
    return store


def memory(store: EpochStore, **more: Any) -> Memory:
    return Memory(**{"store": store, "namespace": of_user, "text_key": "text", **more})


def recalls(*queries: str) -> ScriptedChatModel:
    return model(thinks(*queries, tool="recall"), DONE)


def run(agent: Any, given: Any, config: Any, is_async: bool) -> Any:
    return asyncio.run(agent.ainvoke(given, config)) if is_async else agent.invoke(given, config)


BOTH = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


@BOTH
def test_a_search_of_memory_is_served(store: EpochStore, is_async: bool) -> None:
    """An agent's recall runs early, in the namespace of the run's own user, and the answer is the bare tool's."""
    bare = run(create_agent(recalls("tea"), [memory(store).tool()]), GO, OF_ADA, is_async)
    agent = with_prefetch(create_agent(recalls("tea"), [memory(store).tool()]), tools=["recall"])
    wrapped = run(agent, GO, OF_ADA, is_async)
    assert tool_texts(wrapped) == tool_texts(bare) == ['[{"key": "drink", "memory": "likes tea"}]']
    artifacts = [[message.artifact for message in result["messages"][2:3]] for result in (bare, wrapped)]
    assert artifacts[0] == artifacts[1]
    assert prefetcher_of(agent).report().served == 1


def with_a_step_between(llm: ScriptedChatModel, tool: BaseTool, meanwhile: Callable[[], None]) -> Any:
    """A graph in which something that is no tool happens between the model's call and the tool."""
    bound = llm.bind_tools([tool])

    async def step(state: MessagesState) -> dict[str, Any]:
        await asyncio.to_thread(meanwhile)
        return {}

    async def think(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await bound.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", think)
    graph.add_node("meanwhile", step)
    graph.add_node("tools", ToolNode([tool]))
    graph.add_edge(START, "model")
    graph.add_edge("model", "meanwhile")
    graph.add_edge("meanwhile", "tools")
    return graph.compile()


@pytest.mark.parametrize("written", [None, BOB, ADA], ids=["nothing", "another user's", "the user's"])
async def test_a_write_between_speculation_and_call(
    store: EpochStore, searched: Searched, written: tuple[str, ...] | None
) -> None:
    """Nothing that was read before a write to the user's memory answers after it; another's write is no matter."""

    def meanwhile() -> None:
        until(lambda: searched.searches == 1)
        if written is not None:
            store.put(written, "food", {"text": "likes cake"})

    tool = memory(store).tool()
    agent = with_prefetch(with_a_step_between(recalls("tea"), tool, meanwhile), tools=["recall"])
    events = watch(agent)
    result = await agent.ainvoke(GO, OF_ADA)
    (answered,) = of_kind(events, SearchCallAnswered)
    stale = written == ADA
    assert ("cake" in tool_texts(result)[0]) is stale
    assert (answered.speculation_id is None) is stale
    assert answered.reason == (OUTDATED if stale else "")


def heard(prefetch: Prefetcher, llm: ScriptedChatModel) -> AIMessage:
    return llm.invoke([HumanMessage("go")], {"callbacks": [prefetch.handler()]}, stream=True)


@pytest.mark.parametrize("kind", ["tool", "retriever"])
def test_by_hand(store: EpochStore, searched: Searched, kind: str) -> None:
    """A tool or a retriever over memory, called by code of one's own: served, and run anew after a write."""
    bound = memory(store, namespace=ADA)
    prefetch = Prefetcher(["recall"])
    early: Any = prefetch.tool(bound.tool()) if kind == "tool" else prefetch.retriever(bound.retriever(), name="recall")
    for write in (False, True):
        with prefetch.run():
            message = heard(prefetch, recalls("tea"))
            if write:
                until(lambda: searched.searches == 2)
                store.put(ADA, "food", {"text": "likes cake"})
            given = {**message.tool_calls[0], "type": "tool_call"} if kind == "tool" else "tea"
            found = early.invoke(given)
            assert ("cake" in str(found)) is write
    assert (prefetch.report().served, prefetch.report().search_calls) == (1, 2)


def test_a_write_while_it_is_read(store: EpochStore, searched: Searched) -> None:
    """What was read before a write does not answer after it, though its answer came later than the write."""
    prefetch = Prefetcher(["recall"])
    early = prefetch.tool(memory(store, namespace=ADA).tool())
    with held() as searched.gate, prefetch.run():
        message = heard(prefetch, recalls("tea"))
        until(lambda: searched.searches == 1)
        store.put(ADA, "food", {"text": "likes cake"})
        searched.gate.set()
        assert "cake" in early.invoke({**message.tool_calls[0], "type": "tool_call"}).content
    assert prefetch.report().served == 0


def test_no_memory_crosses_users(searched: Searched) -> None:
    """Where results are shared across runs and the user's name was left out of the key by mistake, the namespace
    still tells two users apart, also those who never wrote."""
    searched.put(ADA, "drink", {"text": "likes tea"})
    searched.put(BOB, "drink", {"text": "likes beer"})
    tool = memory(EpochStore(searched)).tool()
    shared = {"scope": lambda _: "all", "ignore_configurable": ("user",), "reuse_seconds": 60.0}
    said = []
    for user in ("ada", "bob", "ada"):
        agent = with_prefetch(create_agent(recalls("tea"), [tool]), tools=["recall"], **shared)  # type: ignore[arg-type]
        said += tool_texts(agent.invoke(GO, {"configurable": {"user": user}}))
    assert ["tea" in said[0], "beer" in said[1], "tea" in said[2]] == [True] * 3


@dataclass(frozen=True)
class Who:
    user: str


@BOTH
def test_namespace_from_the_runtime_context(store: EpochStore, is_async: bool) -> None:
    """The user may stand in the graph's runtime context instead of its configuration."""
    bound = memory(store, namespace=lambda caller: ("memories", caller.context.user))
    agent: Any = with_prefetch(create_agent(recalls("tea"), [bound.tool()], context_schema=Who), tools=["recall"])
    who = Who("bob")
    result = asyncio.run(agent.ainvoke(GO, context=who)) if is_async else agent.invoke(GO, context=who)
    assert "likes beer" in tool_texts(result)[0]
    assert prefetcher_of(agent).report().served == 1


def test_a_namespace_that_cannot_be_told(store: EpochStore) -> None:
    """A run without a user fails in the tool, as it does bare; prefetch adds nothing to it."""
    agent = with_prefetch(create_agent(recalls("tea"), [memory(store).tool()]), tools=["recall"])
    with pytest.raises(KeyError):
        agent.invoke(GO)
    assert prefetcher_of(agent).report().served == 0


class Remembering(MessagesState):
    memories: list[Any]


@BOTH
def test_the_writing_node(store: EpochStore, is_async: bool) -> None:
    """It writes what the state holds in one batch that moves the epoch once; run again it remembers nothing twice."""
    graph = StateGraph(Remembering)
    graph.add_node("remember", memory(store).writer())
    graph.add_edge(START, "remember")
    agent = graph.compile()
    given = {"memories": ["likes cake", {"text": "is tall"}, ("drink", {"text": "likes coffee"})]}
    before = store.epoch(ADA)
    for _ in range(2):
        assert run(agent, given, OF_ADA, is_async)["memories"] == given["memories"]
    assert store.epoch(ADA) != before
    assert sorted(item.value["text"] for item in store.search(ADA)) == ["is tall", "likes cake", "likes coffee"]
    assert [item.value["text"] for item in store.search(BOB)] == ["likes beer"]
    before = store.epoch(ADA)
    run(agent, {"memories": []}, OF_ADA, is_async)
    assert store.epoch(ADA) == before


def test_documents(store: EpochStore) -> None:
    """Each has an id of its own across namespaces, and where it stands; without a text key its text is the value."""
    whole = Memory(store=store, namespace=("memories",))
    documents = {document.id: document for document in whole.retriever().invoke("tea")}
    assert set(documents) == {'["memories", "ada", "drink"]', '["memories", "bob", "drink"]'}
    one = documents['["memories", "ada", "drink"]']
    assert (one.page_content, one.metadata["key"]) == ('{"text": "likes tea"}', "drink")
    filtered = Memory(store=store, namespace=("memories",), filter={"text": "likes beer"}, limit=1)
    assert len(filtered.retriever().invoke("x")) == 1


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"store": InMemoryStore(), "namespace": ADA}, r"EpochStore\(store\)"),
        ({"namespace": ()}, "tuple of labels"),
        ({"namespace": "ada"}, "tuple of labels"),
        ({"namespace": ADA, "limit": 0}, "limit"),
    ],
)
def test_wrong_use(store: EpochStore, options: dict[str, Any], says: str) -> None:
    """A store whose writes nobody would see, or no namespace: an error that says what to do."""
    with pytest.raises(ConfigurationError, match=says):
        Memory(**{"store": store, **options})


def test_nothing_to_remember_it_by(store: EpochStore) -> None:
    """Something that is no memory is an error, and nothing is written."""
    before = store.epoch(ADA)
    with pytest.raises(ConfigurationError, match="to remember takes"):
        memory(store, namespace=ADA).writer().invoke({"memories": ["fine", 3]})
    assert store.epoch(ADA) == before
