"""Cases B, of tools: their errors, forms, ids, injected arguments and results are the same served as run."""

import asyncio
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.tools import StructuredTool, ToolException, tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode, ToolRuntime, create_react_agent, tools_condition
from langgraph.types import Command
from pydantic import BaseModel

import langgraph_prefetch
from langgraph_prefetch import PrefetchMiddleware, ToolPolicy, prefetcher_of, with_prefetch
from langgraph_prefetch.errors import AlreadyWrappedError
from langgraph_prefetch.testing.models import Call, Turn
from langgraph_prefetch.testing.tools import CountingSearch
from tests.graph.cases.rigs import DONE, GO, KINDS, calls, created, model, plain, thinks, tool_texts


def with_errors_handled(handle: Any, search: CountingSearch) -> Any:
    llm = model(thinks("alpha"), DONE).bind_tools([search.tool])
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [llm.invoke(state["messages"])]})
    options = {} if handle is None else {"handle_tool_errors": handle}
    graph.add_node("tools", ToolNode([search.tool], **options))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile()


def outcome(graph: Any) -> Any:
    try:
        return plain(graph.invoke(GO)["messages"])
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the result
        return type(error), str(error)


@pytest.mark.parametrize("kind", [ValueError, ToolException])
@pytest.mark.parametrize("handle", [None, True, False], ids=["default", "handled", "not handled"])
def test_errors_of_tools(kind: type[Exception], handle: Any) -> None:
    """A tool that fails early and again when called fails as in the bare graph, in each way of handling errors (29)."""

    def fails(query: str, k: int) -> str:
        raise kind(f"no {query}")

    search = CountingSearch(answer=fails)
    bare = with_errors_handled(handle, search)
    wrapped = with_prefetch(bare, ["search"])
    assert outcome(wrapped) == outcome(bare)
    report = prefetcher_of(wrapped).report()
    assert (report.failed, report.served, report.search_calls) == (1, 0, 1)


async def _run(graph: Any, style: str) -> list[AnyMessage]:
    match style:
        case "invoke":
            ended = await asyncio.to_thread(graph.invoke, GO)
        case "ainvoke":
            ended = await graph.ainvoke(GO)
        case "stream":
            ended = (await asyncio.to_thread(lambda: list(graph.stream(GO, stream_mode="values"))))[-1]
        case _:
            ended = [part async for part in graph.astream(GO, stream_mode="values")][-1]
    messages: list[AnyMessage] = ended["messages"]
    return messages


STYLES = ("invoke", "ainvoke", "stream", "astream")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("form", ["sync", "both"])
async def test_middleware_in_every_call_style(style: str, form: Any) -> None:
    """The middleware has both forms of every hook, so that no call style is left out (30)."""
    search, ours = CountingSearch(style=form), PrefetchMiddleware(["search"])
    graph = created(model(thinks("alpha"), DONE), [search.tool], middleware=[ours])
    assert tool_texts({"messages": await _run(graph, style)}) == ["5 passages about alpha"]
    assert ours.prefetch.report().served == 1


async def test_async_only_tools() -> None:
    """A tool with only an async form runs early on the run's own loop, whichever thread the token came from (31)."""
    search = CountingSearch(style="async", seconds=0.003)
    wrapped = with_prefetch(created(model(thinks("alpha"), DONE), [search.tool]), ["search"])
    for style in ("ainvoke", "astream"):
        assert tool_texts({"messages": await _run(wrapped, style)}) == ["5 passages about alpha"]
    assert {record.loop for record in search.records} == {asyncio.get_running_loop()}
    assert (prefetcher_of(wrapped).report().served, len(search)) == (2, 2)


def test_async_only_tools_in_sync_runs() -> None:
    """Where such a tool fails in the bare graph, because the run is not async, it fails in the wrapped one (31)."""
    search = CountingSearch(style="async")
    bare = created(model(thinks("alpha"), DONE), [search.tool])
    assert outcome(bare)[0] is NotImplementedError
    assert outcome(with_prefetch(bare, ["search"])) == outcome(bare)


@pytest.mark.parametrize("kind", KINDS)
def test_every_answer_bears_its_own_id(kind: str) -> None:
    """Served messages carry their own call's id and name and a fresh message id: one answer to each call (32)."""
    search = CountingSearch()
    turns = [
        Turn(calls=[Call("search", {"query": "alpha"}, "c1")]),
        Turn(calls=[Call("search", {"query": "alpha"}, "c2")]),
    ]
    turns.append(Turn(calls=[Call("search", {"query": "alpha"}, name) for name in ("c3", "c4")]))
    wrapped = with_prefetch(KINDS[kind](model(*turns, DONE), [search.tool]), ["search"], reuse_seconds=60.0)
    messages = [each for each in wrapped.invoke(GO)["messages"] if isinstance(each, ToolMessage)]
    assert [message.tool_call_id for message in messages] == ["c1", "c2", "c3", "c4"]
    assert {message.name for message in messages} == {"search"}
    assert len({message.id for message in messages}) == 4
    assert len(search) == 1


@tool
def changes_state(query: str) -> Command[Any]:
    """Answer by an update of the state."""
    message = {"role": "tool", "content": f"for {query}", "tool_call_id": "fixed", "name": "changes_state"}
    return Command(update={"messages": [message]})


@tool
def several(query: str) -> list[Any]:
    """Answer by several updates."""
    mine = ToolMessage(f"for {query}", tool_call_id="fixed", name="several")
    return [Command(update={"messages": []}), mine]


@pytest.mark.parametrize("odd", [changes_state, several], ids=lambda each: each.name)
def test_results_that_change_the_state(odd: Any) -> None:
    """A ``Command``, or a list with one, is passed through as it is; from then on the tool is refused (34)."""
    call = Turn(reasoning="I need to search for alpha. So be it. ", calls=[Call(odd.name, {"query": "alpha"}, "fixed")])
    bare = KINDS["drawn"](model(call, DONE), [odd])
    wrapped = with_prefetch(bare, [odd.name])
    assert outcome(wrapped) == outcome(bare)
    first = prefetcher_of(wrapped).report()
    assert first.served == 0
    assert "change the graph's state" in dict(first.refusals)[odd.name]
    assert outcome(wrapped) == outcome(bare)
    assert prefetcher_of(wrapped).report().speculations == first.speculations


@dataclass(frozen=True)
class User:
    """The run's context."""

    name: str


seen_runtimes: list[Any] = []


@tool
def for_user(query: str, runtime: ToolRuntime[User, Any]) -> str:
    """Look something up for the user of the run."""
    seen_runtimes.append(runtime)
    return f"{query} for {runtime.context.name}"


def test_tool_runtime_on_the_users_word() -> None:
    """A tool given a ``ToolRuntime`` runs early on the user's word, with the run's context and no state (35)."""
    seen_runtimes.clear()
    graph = create_agent(model(thinks("alpha", tool="for_user"), DONE), [for_user], context_schema=User)
    wrapped: Any = with_prefetch(graph, [ToolPolicy(name="for_user", reads_runtime=True)])
    assert tool_texts(wrapped.invoke(GO, context=User("ada"))) == ["alpha for ada"]
    assert prefetcher_of(wrapped).report().served == 1
    assert [runtime.state for runtime in seen_runtimes] == [{}]


def test_what_the_model_supplies_for_an_injected_argument_is_dropped() -> None:
    """A value the model makes up for an injected argument is no part of the key and never reaches the tool (35)."""
    seen_runtimes.clear()
    call = Call("for_user", {"query": "alpha", "runtime": {"context": {"name": "eve"}}})
    graph = create_agent(
        model(Turn(reasoning="I need to search for alpha. ", calls=[call]), DONE), [for_user], context_schema=User
    )
    wrapped: Any = with_prefetch(graph, [ToolPolicy(name="for_user", reads_runtime=True)])
    assert tool_texts(wrapped.invoke(GO, context=User("ada"))) == ["alpha for ada"]
    report = prefetcher_of(wrapped).report()
    assert (report.served, report.speculations, len(seen_runtimes)) == (1, 1, 1)


class Query(BaseModel):
    """The arguments a model may give: the injected one is not among them."""

    query: str


def counted(query: str, state: Annotated[dict[str, Any], InjectedState]) -> str:
    return f"{query}, {len(state['messages'])} messages"


def test_injection_with_a_schema_of_ones_own() -> None:
    """A schema without the injected argument does not hide it: the tool is refused and works, hooks and all (36)."""
    named = StructuredTool.from_function(counted, name="counted", description="Count.", args_schema=Query)
    search = CountingSearch()

    def agent() -> Any:
        llm = model(calls("one", tool="counted"), thinks("alpha"), DONE)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return create_react_agent(llm, [named, search.tool], post_model_hook=lambda state: {})

    wrapped = with_prefetch(agent(), ["counted", "search"])
    assert outcome(wrapped) == outcome(agent())
    report = prefetcher_of(wrapped).report()
    assert "'state' is injected" in dict(report.refusals)["counted"]
    assert report.served == 1


def test_nothing_is_pickled() -> None:
    """No module of the package can execute what a cache holds: none loads pickles or code (40)."""
    package = Path(langgraph_prefetch.__file__).parent
    loads = re.compile(r"\b(?:pickle|cloudpickle|dill|marshal|shelve|joblib)\b|\beval\(|\bexec\(")
    files = [path for path in package.rglob("*.py") if "demo" not in path.parts]
    assert len(files) > 50
    assert [path.name for path in files if loads.search(path.read_text())] == []


def test_graph_built_from_a_model_chosen_per_call() -> None:
    """An agent that picks its model for each call is wrapped as it is: no model is replaced or bound anew (42)."""
    search, chosen = CountingSearch(), []

    def choose(state: Any, runtime: Any) -> Any:
        chosen.append(len(state["messages"]))
        return model(thinks("alpha"), DONE).bind_tools([search.tool])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrapped = with_prefetch(create_react_agent(choose, [search.tool]), ["search"])
    assert tool_texts(wrapped.invoke(GO)) == ["5 passages about alpha"]
    assert (chosen, prefetcher_of(wrapped).report().served) == ([1, 3], 1)


@pytest.mark.parametrize("reuse", [None, 60.0])
def test_the_same_call_five_times(reuse: float | None) -> None:
    """Five equal calls are five real calls, as a poll must be; one, where the user allows reuse; all five seen (44)."""
    times = iter(range(100))
    search = CountingSearch(answer=lambda query, k: f"{query} at {next(times)}")
    turns = [calls("status")] * 5
    wrapped = with_prefetch(created(model(*turns, DONE), [search.tool]), ["search"], reuse_seconds=reuse)
    result = wrapped.invoke(GO)
    texts = tool_texts(result)
    report = prefetcher_of(wrapped).report()
    assert len([each for each in result["messages"] if isinstance(each, AIMessage) and each.tool_calls]) == 5
    assert report.search_calls == 5
    if reuse is None:
        assert len(search) == len(set(texts)) == 5
    else:
        assert (len(search), set(texts)) == (1, {"status at 0"})
        assert (report.served_sealed, report.served_reuse) == (1, 4)


def test_middleware_and_wrapper_do_not_both_serve() -> None:
    """An agent that holds the middleware cannot be wrapped too, and as a subgraph it is left to its middleware."""
    search, ours = CountingSearch(), PrefetchMiddleware(["search"])
    inner = created(model(thinks("alpha"), DONE, DONE), [search.tool], middleware=[ours])
    with pytest.raises(AlreadyWrappedError):
        with_prefetch(inner, ["search"])
    outer_search = CountingSearch(answer=lambda query, k: "outer")
    outer = StateGraph(MessagesState)
    outer.add_node("inner", inner)
    outer.add_node("agent", created(model(DONE, DONE, thinks("beta"), DONE), [outer_search.tool]))
    outer.add_edge(START, "inner")
    outer.add_edge("inner", "agent")
    wrapped: Any = with_prefetch(outer.compile(), ["search"])
    assert tool_texts(wrapped.invoke(GO)) == ["5 passages about alpha", "outer"]
    assert (ours.prefetch.report().served, prefetcher_of(wrapped).report().served) == (1, 1)
    assert (search.queries, outer_search.queries) == (["alpha"], ["beta"])
