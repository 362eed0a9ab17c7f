"""What a type checker knows of the public names; mypy reads this file, nothing runs it.

A change that loses a user's inference fails here. Where a line must be refused, its ``type: ignore`` names the error,
and mypy says so if there is none any more.
"""

from typing import Any, assert_type

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool
from langgraph.graph import MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel

from langgraph_prefetch import (
    Budgets,
    OutboundRules,
    Outgoing,
    Prefetcher,
    PrefetchMiddleware,
    PrefetchOptions,
    PrefetchVariants,
    Report,
    SpeculationNode,
    ToolPolicy,
    UnclaimedCall,
    Variants,
    is_speculative,
    prefetcher_of,
    prefetching_tool_node,
    variants_of,
    with_prefetch,
    with_prefetch_variants,
)
from langgraph_prefetch.events import Event, RunEnded, SearchCallAnswered

Compiled = CompiledStateGraph[MessagesState, None, MessagesState, MessagesState]


def a_graph_keeps_its_type(graph: Compiled, other: Pregel[Any, Any, Any, Any]) -> None:
    """Whatever is wrapped stays what it was, its state and context included."""
    wrapped = with_prefetch(graph, ["search", ToolPolicy(name="browse")])
    assert_type(wrapped, Compiled)
    assert_type(with_prefetch(other, tools=("search",), reuse_seconds=60.0), Pregel[Any, Any, Any, Any])
    wrapped.invoke({"messages": []})


def an_agent_keeps_its_type(llm: BaseChatModel, search: BaseTool) -> None:
    """The same for LangChain's own agent."""
    bare = create_agent(llm, [search])
    wrapped = with_prefetch(bare, ["search"])
    same = bare
    same = wrapped  # noqa: F841 - of one type with the bare one


def variants_keep_the_type(graph: Compiled, one: BaseTool, other: BaseTool) -> None:
    """A graph with variants of its settings stays what it was, and variants of a component are of its type."""
    wrapped = with_prefetch_variants(graph, ["search"], name="eager", variants={"bare": None, "usual": {}})
    assert_type(wrapped, Compiled)
    assert_type(variants_of(wrapped), PrefetchVariants)
    tools = Variants(name="tool", variants={"one": one, "other": other}, key="user")
    assert_type(tools.of(), BaseTool)
    assert_type(tools.tool(), BaseTool)
    with_prefetch_variants(graph, ["search"], name="typo", variants={"a": {"treshold": 0.3}})  # type: ignore[dict-item]


def the_prefetcher_is_reached(graph: Compiled) -> None:
    """The wrapped graph's ``prefetch`` is no attribute a type checker knows; ``prefetcher_of`` is typed."""
    wrapped = with_prefetch(graph, ["search"])
    assert_type(prefetcher_of(wrapped), Prefetcher)
    assert_type(prefetcher_of(wrapped).report(), Report)
    assert_type(prefetcher_of(wrapped).report().coverage, float)
    wrapped.prefetch  # type: ignore[attr-defined]  # noqa: B018


def the_other_ways_in(llm: BaseChatModel, search: BaseTool, retriever: BaseRetriever) -> None:
    """Tools stay tools, retrievers stay retrievers, nodes stay nodes."""
    prefetch = Prefetcher(["search"], threshold=0.6, budgets=Budgets(per_run=10))
    assert_type(prefetch.tool(search), BaseTool)
    assert_type(prefetch.retriever(retriever), BaseRetriever)
    assert_type(prefetching_tool_node([search], prefetch), ToolNode)
    assert_type(PrefetchMiddleware(["search"]).prefetch, Prefetcher)
    create_agent(llm, [search], middleware=[PrefetchMiddleware(["search"])])
    graph = StateGraph(MessagesState)
    graph.add_node("speculate", SpeculationNode(prefetch))
    graph.compile().with_config(callbacks=[prefetch.handler()])
    with prefetch.run({"user": "ada"}) as run:
        assert_type(run.id, str)


def a_sink(event: Event) -> None:
    """Events are told apart by their class."""
    match event:
        case SearchCallAnswered():
            assert_type(event.hidden_seconds, float)
        case RunEnded():
            assert_type(event.idle, bool)
        case _:
            pass


def privacy() -> None:
    """Destinations are words that a type checker knows, and the hook decides."""

    def may_send(outgoing: Outgoing) -> bool:
        assert_type(outgoing.query, str)
        return not is_speculative()

    policy = ToolPolicy(name="search", destination="third_party", outbound=OutboundRules(max_chars=80))
    assert_type(Prefetcher([policy], may_send=may_send).unclaimed(), tuple[UnclaimedCall, ...])
    PrefetchOptions(may_send=may_send)
    PrefetchOptions(may_send="yes")  # type: ignore[arg-type]
    ToolPolicy(name="search", destination="elsewhere")  # type: ignore[arg-type]


def wrong_use(graph: Compiled, messages: list[BaseMessage]) -> None:
    """What can only fail is refused before it runs."""
    Prefetcher(["search"]).subscribe(a_sink)
    with_prefetch(messages, ["search"])  # type: ignore[type-var]
    with_prefetch(graph, [3])  # type: ignore[list-item]
    PrefetchOptions(serve="fuzzy")  # type: ignore[arg-type]
    ToolPolicy("search")  # type: ignore[call-arg]
    Budgets(per_run="many")  # type: ignore[arg-type]
