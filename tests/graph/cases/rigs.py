"""Small agents for the cases: four kinds of graph around one scripted model, and what a case asks of them."""

import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.tools import BaseTool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, create_react_agent, tools_condition

from langgraph_prefetch import prefetcher_of
from langgraph_prefetch.events import Event
from langgraph_prefetch.prefetcher import PrefetchEngine
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn

DONE = Turn(text="It is done.")
GO: Any = {"messages": [("user", "go")]}


def thinks(*queries: str, tool: str = "search") -> Turn:
    """Says that it needs each query, then calls the tool for each."""
    thought = "".join(f"I need to search for {query}. " for query in queries)
    return Turn(reasoning=thought + "Then I can go on. ", calls=[Call(tool, {"query": query}) for query in queries])


def calls(*queries: str, tool: str = "search") -> Turn:
    """Calls the tool for each query without a word."""
    return Turn(calls=[Call(tool, {"query": query}) for query in queries])


def model(*turns: Turn, **settings: Any) -> ScriptedChatModel:
    """A scripted model that takes a moment for each token, so that a speculation has time to end."""
    return ScriptedChatModel(script=turns, **{"seconds_per_token": 0.002, **settings})


class RawChatModel(ScriptedChatModel):
    """Streams the very chunks it is given for its first turn, then follows the script."""

    raw: list[AIMessageChunk]

    def _chunks(self, turn: Turn, number: int) -> list[ChatGenerationChunk]:
        if number:
            return super()._chunks(turn, number)
        last = AIMessageChunk(content="", chunk_position="last")
        return [ChatGenerationChunk(message=message) for message in (*self.raw, last)]


def raw_model(*chunks: AIMessageChunk, then: Turn = DONE) -> RawChatModel:
    """A model whose first message is streamed as these chunks."""
    return RawChatModel(script=[Turn(), then, DONE, DONE], raw=list(chunks), seconds_per_token=0.003)


def drawn(llm: BaseChatModel, tools: Sequence[BaseTool], **compile_options: Any) -> Any:
    """A graph drawn by hand around a ``ToolNode``, with a synchronous model node."""
    bound = llm.bind_tools(list(tools))

    def think(state: MessagesState) -> dict[str, Any]:
        return {"messages": [bound.invoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", think)
    graph.add_node("tools", ToolNode(list(tools)))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile(**compile_options)


def _react(version: Any) -> Callable[..., Any]:
    def build(llm: BaseChatModel, tools: Sequence[BaseTool], **options: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecated, and still what many run
            return create_react_agent(llm, list(tools), version=version, **options)

    return build


def created(llm: BaseChatModel, tools: Sequence[BaseTool], **options: Any) -> Any:
    """LangChain's own agent."""
    return create_agent(llm, list(tools), **options)


KINDS: dict[str, Callable[..., Any]] = {
    "drawn": drawn,
    "react v1": _react("v1"),
    "react v2": _react("v2"),
    "create_agent": created,
}


def tool_texts(result: Any) -> list[str]:
    """What the tools answered, in the order of the conversation."""
    return [str(message.text) for message in result["messages"] if isinstance(message, ToolMessage)]


def plain(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    """Messages without the ids that are made up in each run."""
    return [message.model_dump(exclude={"id"}) for message in messages]


def watch(graph_or_prefetch: Any) -> list[Event]:
    """Every event from now on."""
    engine = graph_or_prefetch if isinstance(graph_or_prefetch, PrefetchEngine) else prefetcher_of(graph_or_prefetch)
    seen: list[Event] = []
    engine.subscribe(seen.append)
    return seen


def of_kind(events: Sequence[Event], kind: type[Any]) -> list[Any]:
    """The events of one kind."""
    return [event for event in events if isinstance(event, kind)]


def until(holds: Callable[[], Any], seconds: float = 60.0) -> None:
    """Wait until ``holds()``; fail if it does not within a time that only a stuck test needs."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came to hold"
        time.sleep(0.002)


@contextmanager
def held() -> Iterator[threading.Event]:
    """A gate for tools to wait at; opened at the end, whatever happens, or a thread would wait for ever."""
    gate = threading.Event()
    try:
        yield gate
    finally:
        gate.set()
