"""Question in, context out, three ways over one store: plain LangChain, plain LangGraph, and LangGraph prefetched."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import BaseTool, tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from langgraph_prefetch import ReduceContextNode, prefetcher_of, reduce_context, with_prefetch
from langgraph_prefetch.report import Report
from langgraph_prefetch.retrieval import PgVectorStore
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn, script_by_question

Kind = Literal["vector", "hybrid"]
Answer = Callable[[str], Awaitable[str]]

K = 8
MAX_TOKENS = 1_500
AFTER = "Then I can put together what both of them say, and answer the question from that."
"""What a model goes on to say once it has named its searches: 16 words; in recorded runs 9 to 13."""


class Stages(BaseCallbackHandler):
    """Seconds that each stage took. As a callback it hears how long the model spoke, and how many tokens it said."""

    run_inline = True

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.tokens = 0
        self._began: dict[UUID, float] = {}

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Around one piece of work."""
        began = time.perf_counter()
        yield
        self.seconds[name].append(time.perf_counter() - began)

    def forget(self) -> None:
        """Begin anew."""
        self.seconds.clear()
        self.tokens = 0

    def median(self, name: str) -> float:
        """Of a stage, in seconds; 0 where it never ran."""
        return statistics.median(self.seconds[name]) if self.seconds[name] else 0.0

    def on_chat_model_start(self, serialized: Any, messages: Any, *, run_id: UUID, **_: Any) -> None:
        """The model begins."""
        self._began[run_id] = time.perf_counter()

    def on_llm_end(self, response: Any, *, run_id: UUID, **_: Any) -> None:
        """The model ends."""
        self.seconds["think"].append(time.perf_counter() - self._began.pop(run_id))
        usage = response.generations[0][0].message.usage_metadata or {}
        self.tokens += usage.get("output_tokens", 0)


class Delayed(Embeddings):
    """Another's vectors, after as long as a hosted model takes for a request."""

    def __init__(self, inner: Embeddings, seconds: float, stages: Stages) -> None:
        self._inner, self._seconds, self.stages = inner, seconds, stages

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._inner.embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        with self.stages.of("embed"):
            time.sleep(self._seconds)
            return self._inner.embed_query(text)

    async def aembed_query(self, text: str) -> list[float]:
        with self.stages.of("embed"):
            await asyncio.sleep(self._seconds)
            return self._inner.embed_query(text)


class ContextState(MessagesState):
    """What the graphs hold."""

    context: str


def searching(store: PgVectorStore, kind: Kind, stages: Stages) -> BaseTool:
    """A search of the store, uncached."""
    find = store.ahybrid_search if kind == "hybrid" else store.asimilarity_search

    @tool(response_format="content_and_artifact")
    async def search(query: str) -> tuple[str, list[Document]]:
        """Search the passages."""
        with stages.of("search"):
            found = await find(query, k=K)
        return "\n\n".join(document.page_content for document in found), found

    return search


def speaking(questions: Mapping[str, Sequence[str]], tokens_per_second: float) -> ScriptedChatModel:
    """A model that thinks of the searches a question needs, at a steady rate, and then asks for them."""
    scripts = {
        question: [
            Turn(
                reasoning=" ".join([*(f"I need to search for {query}." for query in queries), AFTER]),
                calls=[Call("search", {"query": query}) for query in queries],
            )
        ]
        for question, queries in questions.items()
    }
    return ScriptedChatModel(script=script_by_question(scripts), seconds_per_token=1 / tokens_per_second)


def langchain(model: ScriptedChatModel, search: BaseTool, stages: Stages) -> Answer:
    """A coroutine of LangChain's parts: the model, its searches side by side, the context."""

    async def answer(question: str) -> str:
        message = await model.ainvoke([HumanMessage(question)], {"callbacks": [stages]})
        assert isinstance(message, AIMessage)
        calls: list[Any] = [{**call, "type": "tool_call"} for call in message.tool_calls]
        found = await asyncio.gather(*(search.ainvoke(call) for call in calls))
        with stages.of("reduce"):
            context = reduce_context([each.artifact for each in found], max_tokens=MAX_TOKENS)
            return "\n\n".join(document.page_content for document in context)

    return answer


def drawn(model: ScriptedChatModel, search: BaseTool, stages: Stages) -> Any:
    """The same as a graph."""
    reduce_node = ReduceContextNode(max_tokens=MAX_TOKENS, write=None, text_into="context")

    async def think(state: ContextState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    def reduced(state: ContextState) -> dict[str, Any]:
        with stages.of("reduce"):
            return reduce_node(state)

    graph = StateGraph(ContextState)
    graph.add_node("think", think)
    graph.add_node("tools", ToolNode([search]))
    graph.add_node("reduce", reduced)
    graph.add_edge(START, "think")
    graph.add_edge("think", "tools")
    graph.add_edge("tools", "reduce")
    return graph.compile()


def asking(graph: Any, stages: Stages) -> Answer:
    """A graph as something that answers."""

    async def answer(question: str) -> str:
        state = await graph.ainvoke({"messages": [HumanMessage(question)]}, {"callbacks": [stages]})
        context: str = state["context"]
        return context

    return answer


class Ways:
    """The three ways over one store, with a watch each.

    Args:
        store: searched; its embedder must be a :class:`Delayed`.
        kind: of the search.
        questions: what each question needs to be searched.
        tokens_per_second: of the model.
    """

    def __init__(
        self, store: PgVectorStore, kind: Kind, questions: Mapping[str, Sequence[str]], tokens_per_second: float
    ) -> None:
        self.stages = {name: Stages() for name in ("langchain", "langgraph", "prefetched")}
        model = speaking(questions, tokens_per_second)
        tools = {name: searching(store, kind, stages) for name, stages in self.stages.items()}
        bare = drawn(model, tools["langgraph"], self.stages["langgraph"])
        inner = drawn(model, tools["prefetched"], self.stages["prefetched"])
        self._wrapped = with_prefetch(inner, tools=["search"], force_streaming=True)
        self.answers: dict[str, Answer] = {
            "langchain": langchain(model, tools["langchain"], self.stages["langchain"]),
            "langgraph": asking(bare, self.stages["langgraph"]),
            "prefetched": asking(self._wrapped, self.stages["prefetched"]),
        }

    def forget(self) -> None:
        """Begin to measure: what was timed so far does not count."""
        for stages in self.stages.values():
            stages.forget()

    def report(self) -> Report:
        """What prefetch did."""
        return prefetcher_of(self._wrapped).report()
