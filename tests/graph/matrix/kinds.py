"""The graphs of the matrix, each built anew from a :class:`World` so that bare and wrapped share nothing."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.structured_output import ToolStrategy
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda, RunnablePassthrough
from langchain_core.tools import BaseTool, tool
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode, create_react_agent, tools_condition
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.pregel import Pregel
from langgraph.types import Command, RetryPolicy, Send
from pydantic import BaseModel

from langgraph_prefetch.testing.models import ScriptedChatModel, UnstreamedScriptedChatModel
from langgraph_prefetch.testing.script import Call, Script, Turn, script_by_question
from langgraph_prefetch.testing.tools import CountingSearch

Graph = Pregel[Any, Any, Any, Any]

QUESTION = "Where do they stand?"


def search_for(query: str, *more: Call, then: str = "Then I will go on.") -> Turn:
    """A turn whose query can be read in the reasoning before it is in the call."""
    return Turn(reasoning=f"I need to search for {query}. {then}", calls=[Call("search", {"query": query}), *more])


SEARCHES = (
    search_for("Eiffel Tower"),
    Turn(reasoning="How heavy is it?", calls=[Call("weigh", {"thing": "tower"})]),
    search_for("Louvre Museum"),
    Turn(text="Both stand in Paris."),
)
PARALLEL = (
    search_for("Eiffel Tower", Call("search", {"query": "Louvre Museum"})),
    search_for("Panthéon", Call("weigh", {"thing": "dome"})),
    Turn(text="All stand in Paris."),
)


@tool
def weigh(thing: str) -> str:
    """Say how heavy a thing is."""
    return f"{thing}: 10,100 tons"


class Verdict(BaseModel):
    """The answer."""

    city: str


@dataclass
class World:
    """What one graph stands on."""

    turns: Script = SEARCHES
    search: CountingSearch = field(default_factory=CountingSearch)
    others: Sequence[BaseTool] = (weigh,)
    streams: bool = True
    options: dict[str, Any] = field(default_factory=dict)
    """For the graph's compilation: checkpointer, store, interrupt_before …"""

    tool_options: dict[str, Any] = field(default_factory=dict)
    """For the search tool: return_direct, handle_tool_error …"""

    node_options: dict[str, Any] = field(default_factory=dict)
    """For a drawn graph's tool node."""

    retry: RetryPolicy | None = None
    """For a drawn graph's nodes."""

    calls: list[str] = field(default_factory=list)
    """What the user's own hooks saw."""

    @property
    def tools(self) -> list[BaseTool]:
        """The search tool and the others."""
        return [self.search.tool.model_copy(update=self.tool_options), *self.others]

    def model(self) -> BaseChatModel:
        """The scripted model."""
        cls = ScriptedChatModel if self.streams else UnstreamedScriptedChatModel
        return cls(script=self.turns)


def agent(world: World) -> Graph:
    """``create_agent``."""
    return create_agent(world.model(), world.tools, **world.options)


class Watch(AgentMiddleware[Any, Any, Any]):
    """A user's middleware with every hook, in both forms; its guard marks what it let through."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.calls = world.calls

    def before_agent(self, state: Any, runtime: Any) -> None:
        self.calls.append("before agent")

    def before_model(self, state: Any, runtime: Any) -> None:
        self.calls.append("before model")

    def after_model(self, state: Any, runtime: Any) -> None:
        self.calls.append("after model")

    def after_agent(self, state: Any, runtime: Any) -> None:
        self.calls.append("after agent")

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        self.calls.append("model")
        return handler(request)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        self.calls.append("model")
        return await handler(request)

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        return self._checked(request, handler(request))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        return self._checked(request, await handler(request))

    def _checked(self, request: ToolCallRequest, result: ToolMessage | Command[Any]) -> ToolMessage | Command[Any]:
        self.calls.append(f"tool {request.tool_call['name']}")
        if isinstance(result, ToolMessage):
            return result.model_copy(update={"content": f"[checked] {result.content}"})
        return result


def watched_agent(world: World) -> Graph:
    """``create_agent`` with a user's middleware."""
    return create_agent(world.model(), world.tools, middleware=[Watch(world)], **world.options)


def _react(version: Literal["v1", "v2"]) -> Callable[[World], Graph]:
    def build(world: World) -> Graph:
        """``create_react_agent``."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return create_react_agent(world.model(), world.tools, version=version, **world.options)

    return build


class ModelState(BaseModel):
    """A state that is a pydantic model."""

    messages: Annotated[list[AnyMessage], add_messages]


@dataclass
class DataState:
    """A state that is a dataclass."""

    messages: Annotated[list[AnyMessage], add_messages]


def _messages(state: Any) -> list[AnyMessage]:
    found: list[AnyMessage] = state["messages"] if isinstance(state, dict) else state.messages
    return found


def _drawn(world: World, schema: Any = MessagesState) -> StateGraph[Any, Any, Any, Any]:
    bound = world.model().bind_tools(world.tools)

    def call(state: Any) -> dict[str, Any]:
        get_stream_writer()({"asks": len(_messages(state))})
        return {"messages": [bound.invoke(_messages(state))]}

    async def acall(state: Any) -> dict[str, Any]:
        get_stream_writer()({"asks": len(_messages(state))})
        return {"messages": [await bound.ainvoke(_messages(state))]}

    graph: StateGraph[Any, Any, Any, Any] = StateGraph(schema)
    graph.add_node("model", RunnableLambda(call, acall, name="model"), retry_policy=world.retry)
    graph.add_node("tools", ToolNode(world.tools, **world.node_options), retry_policy=world.retry)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    return graph


def drawn(world: World, schema: Any = MessagesState) -> Graph:
    """A hand-written graph, with a custom stream of its own."""
    graph = _drawn(world, schema)
    graph.add_edge("tools", "model")
    return graph.compile(**world.options)


class Polish(Runnable[Any, Any]):
    """A user's own runnable, which can stream; it writes down how it was called."""

    def __init__(self, calls: list[str]) -> None:
        self.calls = calls

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        self.calls.append("invoke")
        return {"messages": []}

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        self.calls.append("ainvoke")
        return {"messages": []}

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:  # noqa: A002
        self.calls.append("stream")
        yield from ({"messages": []}, {"messages": []})

    async def astream(
        self,
        input: Any,  # noqa: A002
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        self.calls.append("astream")
        yield {"messages": []}
        yield {"messages": []}


def chain(world: World) -> Graph:
    """A hand-written graph with a runnable of the user's that streams of its own accord."""
    graph = _drawn(world)
    graph.add_node("polish", Polish(world.calls) | RunnablePassthrough())
    graph.add_edge("tools", "polish")
    graph.add_edge("polish", "model")
    return graph.compile(**world.options)


def model_per_call(world: World) -> Graph:
    """``create_react_agent`` whose model is chosen for each call."""
    chosen = world.model().bind_tools(world.tools)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return create_react_agent(lambda state, runtime: chosen, world.tools, **world.options)


class Choose(AgentMiddleware[Any, Any, Any]):
    """Chooses another model than the agent was made with."""

    def __init__(self, model: BaseChatModel) -> None:
        super().__init__()
        self._model = model

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        return handler(request.override(model=self._model))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        return await handler(request.override(model=self._model))


def model_by_middleware(world: World) -> Graph:
    """``create_agent`` whose middleware chooses the model."""
    never = ScriptedChatModel(script=())
    return create_agent(never, world.tools, middleware=[Choose(world.model())], **world.options)


def structured(world: World) -> Graph:
    """``create_agent`` with structured output."""
    world.turns = (*SEARCHES[:3], Turn(text="In", calls=[Call("Verdict", {"city": "Paris"})]))
    return create_agent(world.model(), world.tools, response_format=ToolStrategy(Verdict), **world.options)


def parallel(world: World) -> Graph:
    """Several calls in one message."""
    world.turns = PARALLEL
    return agent(world)


def parallel_drawn(world: World) -> Graph:
    """Several calls in one message, all in one tool node."""
    world.turns = PARALLEL
    return drawn(world)


def return_direct(world: World) -> Graph:
    """The search's result is the agent's answer."""
    world.tool_options = {"return_direct": True}
    return agent(world)


def artifact(world: World) -> Graph:
    """A search with content and artifact."""
    world.search = CountingSearch(answer=lambda query, k: (f"about {query}", {"ids": [k, query]}))
    world.tool_options = {"response_format": "content_and_artifact"}
    return agent(world)


def hand_over(world: World) -> Graph:
    """A tool that sends the run elsewhere by ``Command(goto=…)``, with an update of its own."""

    @tool
    def give_up(why: str) -> Command[Any]:
        """Hand over to a person."""
        done = ToolMessage(f"handed over: {why}", tool_call_id="call_2_0", name="give_up")
        return Command(goto="person", update={"messages": [done]})

    world.turns = (search_for("Eiffel Tower"), Turn(reasoning="Too hard.", calls=[Call("give_up", {"why": "lost"})]))
    world.others = (give_up,)
    graph = _drawn(world)
    graph.add_node("person", lambda state: {"messages": [AIMessage("a person answers", id="person")]})
    # With an edge to a node of its own instead, that node and the person would run at the same time.
    graph.add_conditional_edges("tools", lambda state: END if _handed_over(state) else "model", [END, "model"])
    graph.add_edge("person", END)
    return graph.compile(**world.options)


def _handed_over(state: MessagesState) -> bool:
    return any(message.name == "give_up" for message in state["messages"])


CATHEDRALS = ("Reims", "Köln", "Sevilla")
FAN = script_by_question(
    {city: (search_for(f"{city} Cathedral"), Turn(text=f"{city} has one.")) for city in CATHEDRALS}
)


def fan_out(world: World) -> Graph:
    """One agent asked three things at a time by ``Send``."""
    world.turns = FAN
    graph = StateGraph(MessagesState)
    graph.add_node("agent", agent(World(FAN, world.search, world.others, world.streams)))
    graph.add_conditional_edges(
        START, lambda state: [Send("agent", {"messages": [HumanMessage(city)]}) for city in CATHEDRALS], ["agent"]
    )
    return graph.compile(**world.options)


KINDS: dict[str, Callable[[World], Graph]] = {
    "agent": agent,
    "watched_agent": watched_agent,
    "react_v1": _react("v1"),
    "react_v2": _react("v2"),
    "drawn": drawn,
    "chain": chain,
    "model_per_call": model_per_call,
    "model_by_middleware": model_by_middleware,
    "structured": structured,
    "return_direct": return_direct,
    "artifact": artifact,
    "hand_over": hand_over,
    "fan_out": fan_out,
    "parallel": parallel,
    "parallel_drawn": parallel_drawn,
}
"""By name, each from a world to a graph."""

LEFT_TO_CHANCE = frozenset({"parallel", "parallel_drawn", "fan_out"})
"""Kinds whose calls run at the same time, so that their parts come in no fixed order."""
