"""Wrong use is one clear error at wrap time, and a tool that may not run early does not keep the others from it."""

import logging
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import BaseTool, InjectedToolArg, InjectedToolCallId, tool
from langgraph.func import entrypoint
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, InjectedStore, ToolRuntime
from langgraph.pregel.remote import RemoteGraph
from langgraph.store.memory import InMemoryStore

from langgraph_prefetch import (
    Budgets,
    ConfigurationError,
    ExecutorLimits,
    PrefetchError,
    PrefetchMiddleware,
    ToolPolicy,
    prefetcher_of,
    with_prefetch,
)
from langgraph_prefetch.errors import (
    AlreadyWrappedError,
    NotAGraphError,
    NoToolNodeError,
    NotWrappedError,
    UnknownOptionError,
    UnknownToolError,
)
from langgraph_prefetch.testing.tools import CountingSearch
from tests.graph.cases.rigs import DONE, GO, calls, created, drawn, model, thinks, tool_texts


def agent(*tools: BaseTool) -> Any:
    return created(model(DONE), tools or [CountingSearch().tool])


def function_graph() -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("answer", lambda state: state)
    graph.add_edge(START, "answer")
    return graph.compile()


@entrypoint()
def workflow(question: str) -> str:
    return question


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (None, "not NoneType"),
        (StateGraph(MessagesState), r"not StateGraph\. Call \.compile\(\) first"),
        (lambda state: state, "not function"),
        (RemoteGraph("agent", url="http://127.0.0.1:1"), "not RemoteGraph. Its tools run on a server: wrap the graph"),
    ],
    ids=["none", "not compiled", "function", "remote"],
)
def test_not_a_graph(thing: Any, said: str) -> None:
    """What is no compiled graph is named by its type, with what to do about it."""
    with pytest.raises(NotAGraphError, match=said):
        with_prefetch(thing, ["search"])


def test_no_tool_node() -> None:
    """A graph without a tool node says which nodes it has, and points to the way in for tools called by hand."""
    with pytest.raises(NoToolNodeError, match=r"\(answer\).*Prefetcher\.tool\(\)"):
        with_prefetch(function_graph(), ["search"])
    with pytest.raises(NoToolNodeError, match="workflow"):
        with_prefetch(workflow, ["search"])


def test_unknown_tool() -> None:
    """A name that no tool has is answered with the names that tools have."""
    graph = agent(CountingSearch().tool, CountingSearch(name="browse").tool)
    with pytest.raises(UnknownToolError, match=r"no tool named 'serach'.*browse, search\. Did you mean 'search'\?"):
        with_prefetch(graph, ["serach"])


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ([], "names nothing to prefetch"),
        ("search", r"takes a list: tools=\['search'\]"),
        (None, "takes a list of names, not None"),
        (["search", 3], "not int"),
        ([CountingSearch().tool], "not StructuredTool: write 'search'"),
        (ToolPolicy(name="search"), "takes a list"),
    ],
    ids=["empty", "text", "none", "number", "tool", "policy"],
)
def test_tools_that_are_no_list_of_names(tools: Any, said: str) -> None:
    """Each wrong form of ``tools`` says how to write it."""
    with pytest.raises(ConfigurationError, match=said):
        with_prefetch(agent(), tools)
    with pytest.raises(ConfigurationError, match=said):
        PrefetchMiddleware(tools)


def test_unknown_option() -> None:
    """A misspelt option is answered with the options there are and the nearest one."""
    with pytest.raises(UnknownOptionError, match=r"unknown option 'treshold'.*Did you mean 'threshold'\?"):
        with_prefetch(agent(), ["search"], treshold=0.5)  # type: ignore[call-arg]
    with pytest.raises(UnknownOptionError, match="Did you mean 'reuse_seconds'"):
        PrefetchMiddleware(["search"], reuse_second=1)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"threshold": 2}, "between 0 and 1, not 2"),
        ({"threshold": "high"}, "threshold must be a number, not 'high'"),
        ({"force_streaming": "yes"}, "'auto', True or False, not 'yes'"),
        ({"serve": "fuzzy"}, "serve must be 'exact', 'bounded' or 'verified', not 'fuzzy'"),
        ({"reuse_seconds": -1}, "reuse_seconds must be above 0, not -1"),
        ({"reuse_seconds": "60"}, "reuse_seconds must be a number, not '60'"),
        ({"max_age_seconds": 0}, "max_age_seconds must be above 0, not 0"),
        ({"max_wait_seconds": -0.1}, "max_wait_seconds must be at least 0, not -0.1"),
        ({"max_wait_seconds": None}, "max_wait_seconds must be a number, not None"),
        ({"scope": "tenant"}, "scope takes a function"),
        ({"budgets": 5}, "budgets takes a Budgets object, not 5"),
        ({"ignore_configurable": "thread_id"}, "takes a tuple of names"),
    ],
    ids=str,
)
def test_values_out_of_range(options: dict[str, Any], said: str) -> None:
    """A value that means nothing is refused by name, with its bound, before anything runs."""
    with pytest.raises(ConfigurationError, match=said):
        with_prefetch(agent(), ["search"], **options)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ToolPolicy(name=""), "needs the tool's name"),
        (lambda: ToolPolicy(name="search", timeout_seconds=-1), "timeout_seconds must be above 0"),
        (lambda: ToolPolicy(name="search", max_concurrency=0), "max_concurrency must be at least 1"),
        (lambda: ToolPolicy(name="search", max_per_second=0), "max_per_second must be above 0"),
        (lambda: ToolPolicy(name="search", reserve=-1), "reserve must be at least 0"),
        (lambda: Budgets(per_run=-1), "per_run must be at least 0"),
        (lambda: Budgets(per_run="many"), "per_run must be a number"),  # type: ignore[arg-type]
        (lambda: ExecutorLimits(max_running=0), "max_running must be at least 1"),
    ],
)
def test_policies_out_of_range(make: Any, said: str) -> None:
    """Policies, budgets and limits are checked when they are made."""
    with pytest.raises(ConfigurationError, match=said):
        make()


def test_wrapped_twice() -> None:
    """A graph that prefetches already is not counted twice, whichever way in came first."""
    wrapped = with_prefetch(agent(), ["search"])
    held_by_middleware = create_agent(model(DONE), [CountingSearch().tool], middleware=[PrefetchMiddleware(["search"])])
    for graph in (wrapped, wrapped.with_config(tags=["mine"]), held_by_middleware):
        with pytest.raises(AlreadyWrappedError, match="prefetches already"):
            with_prefetch(graph, ["search"])


def test_every_mistake_is_one_family() -> None:
    """One ``except`` catches whatever this package complains about; it is a ``ValueError`` besides."""
    for kind in (NotAGraphError, NoToolNodeError, UnknownToolError, UnknownOptionError, AlreadyWrappedError):
        assert issubclass(kind, PrefetchError)
        assert issubclass(kind, ValueError)


def test_prefetcher_of_a_bare_graph() -> None:
    """Asking a graph that was not wrapped for its prefetcher says so."""
    with pytest.raises(NotWrappedError, match="was not returned by with_prefetch"):
        prefetcher_of(agent())


@tool
def with_state(query: str, state: Annotated[dict[str, Any], InjectedState]) -> str:
    """Look something up."""
    return f"{query}, {len(state['messages'])} messages"


@tool
def with_store(query: str, store: Annotated[Any, InjectedStore()]) -> str:
    """Look something up."""
    return query


@tool
def with_call_id(query: str, call_id: Annotated[str, InjectedToolCallId]) -> str:
    """Look something up."""
    return f"{query} for {call_id}"


@tool
def with_secret(query: str, secret: Annotated[str, InjectedToolArg] = "none") -> str:
    """Look something up."""
    return query


@tool
def with_runtime(query: str, runtime: ToolRuntime) -> str:
    """Look something up."""
    return f"{query} for {runtime.tool_call_id}"


@pytest.mark.parametrize(
    ("refused", "said"),
    [
        (with_state, "'state' is injected (state)"),
        (with_store, "'store' is injected (store)"),
        (with_call_id, "'call_id' is injected (injected argument)"),
        (with_secret, "'secret' is injected (injected argument)"),
        (with_runtime, "ToolPolicy(name=…, reads_runtime=True)"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_refused_tool_among_others(refused: BaseTool, said: str, caplog: pytest.LogCaptureFixture) -> None:
    """A tool that is given what only the graph knows is refused with the reason; it still works, others run early."""
    search = CountingSearch()
    turns = (calls("first", tool=refused.name), thinks("alpha"), DONE)
    bare, agent = (build(model(*turns), [refused, search.tool], store=InMemoryStore()) for build in (drawn, created))
    wrapped = with_prefetch(agent, [refused.name, "search"])
    refusals = dict(prefetcher_of(wrapped).report().refusals)
    assert refusals.keys() == {refused.name}
    assert said in refusals[refused.name]
    assert said in str(prefetcher_of(wrapped).report())
    assert [said in record.getMessage() for record in caplog.records if record.levelno == logging.WARNING] == [True]
    assert tool_texts(wrapped.invoke(GO)) == tool_texts(bare.invoke(GO))
    assert prefetcher_of(wrapped).report().served == 1


def test_two_tools_of_one_name() -> None:
    """Two tools with one name in one graph: neither is run early, since the name does not tell which was meant."""
    left, right = CountingSearch(answer=lambda query, k: "left"), CountingSearch(answer=lambda query, k: "right")
    graph = StateGraph(MessagesState)
    graph.add_node("left", drawn(model(thinks("alpha"), DONE), [left.tool]))
    graph.add_node("right", drawn(model(DONE, DONE, thinks("alpha"), DONE), [right.tool]))
    graph.add_edge(START, "left")
    graph.add_edge("left", "right")
    wrapped: Any = with_prefetch(graph.compile(), ["search"])
    assert tool_texts(wrapped.invoke(GO)) == ["left", "right"]
    report = prefetcher_of(wrapped).report()
    assert "two tools of the graph have this name" in dict(report.refusals)["search"]
    assert (len(left), len(right), report.speculations) == (1, 1, 0)
