"""Cases C through graphs: whose results are whose, and what is never kept."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool, tool

from langgraph_prefetch import ToolPolicy, prefetcher_of, with_prefetch
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn
from langgraph_prefetch.testing.tools import CountingSearch
from tests.graph.cases.rigs import DONE, GO, calls, created, model, thinks, tool_texts


def tenant_of(configurable: Mapping[str, Any]) -> Any:
    return configurable.get("tenant")


def of_tenant(name: str | None, **more: Any) -> Any:
    return {"configurable": {"tenant": name, **more} if name else more}


def agent(search: CountingSearch, *turns: Turn) -> Any:
    return created(model(*(turns or (thinks("alpha"), DONE))), [search.tool])


SHARED: dict[str, Any] = {"scope": tenant_of, "reuse_seconds": 60.0, "ignore_configurable": ("thread_id",)}


def shared_by(tenant: str, **more: Any) -> dict[str, Any]:
    """Options whose scope no other test uses: results under a scope are the whole process's."""
    return {
        **SHARED,
        **more,
        "scope": lambda configurable: (tenant, found) if (found := tenant_of(configurable)) else None,
    }


def test_tenants_keep_apart() -> None:
    """One tenant's second run is answered from its first; another tenant's, and one without a name, never is (50)."""
    search = CountingSearch()
    wrapped = with_prefetch(agent(search), ["search"], **shared_by("apart"))
    for name, expected in (("a", 1), ("a", 1), ("b", 2), (None, 3), (None, 4), ("b", 4)):
        assert tool_texts(wrapped.invoke(GO, of_tenant(name))) == ["5 passages about alpha"]
        assert len(search) == expected, name


async def test_tenants_at_the_same_time() -> None:
    """The same holds for retrievals under way: a tenant never joins another's (50)."""
    search = CountingSearch(style="async", seconds=0.02, answer=lambda query, k: query)
    wrapped = with_prefetch(agent(search), ["search"], **shared_by("at once"))
    await asyncio.gather(*(wrapped.ainvoke(GO, of_tenant(name)) for name in ("a", "b", "a", "b")))
    fetched_for = sorted(record.config["configurable"]["tenant"] for record in search.records)
    assert fetched_for == ["a", "b"]


def test_without_a_scope_runs_share_nothing() -> None:
    """Where no scope is given, no result crosses from one run into another, however equal they are (50)."""
    search = CountingSearch()
    wrapped = with_prefetch(agent(search), ["search"], reuse_seconds=60.0)
    for _ in range(3):
        wrapped.invoke(GO, of_tenant("a"))
    assert len(search) == 3


def test_another_users_result_is_never_served() -> None:
    """The caller's configuration is part of the key, also where a scope forgets about it (50)."""

    @tool
    def mine(query: str, config: RunnableConfig) -> str:
        """Look up what belongs to the user."""
        return f"{query} of {config['configurable']['user']}"

    graph = created(model(thinks("alpha", tool="mine"), DONE), [mine])
    wrapped = with_prefetch(graph, ["mine"], reuse_seconds=60.0, scope=lambda _: "everyone's")
    for user in ("ada", "bob", "ada"):
        assert tool_texts(wrapped.invoke(GO, {"configurable": {"user": user}})) == [f"alpha of {user}"]
    assert prefetcher_of(wrapped).report().served_reuse == 1


@tool
def lookup(query: str, tenant_id: str = "own") -> str:
    """Look something up."""
    return f"{query} of {tenant_id}"


def test_scope_is_not_what_the_model_says() -> None:
    """An argument called ``tenant_id`` is an argument: it neither names the scope nor joins two tenants (51)."""
    asked: list[Mapping[str, Any]] = []

    def scope(configurable: Mapping[str, Any]) -> Any:
        asked.append(dict(configurable))
        return tenant_of(configurable)

    call = Turn(calls=[Call("lookup", {"query": "alpha", "tenant_id": "b"})])
    graph = created(model(call, DONE), [lookup])
    wrapped = with_prefetch(graph, ["lookup"], **{**SHARED, "scope": scope})
    for name in ("51 a", "51 b"):
        assert tool_texts(wrapped.invoke(GO, of_tenant(name))) == ["alpha of b"]
    assert prefetcher_of(wrapped).report().served_reuse == 0
    assert asked == [{"tenant": "51 a"}, {"tenant": "51 b"}]


def _raises(_: Mapping[str, Any]) -> Any:
    raise KeyError("tenant")


@pytest.mark.parametrize(
    ("scope", "troubles"),
    [(_raises, 2), (lambda _: None, 0), (lambda _: ["unhashable"], 2)],
    ids=["raises", "none", "unhashable"],
)
def test_scope_that_cannot_be_told(scope: Any, troubles: int) -> None:
    """A scope function that raises, or tells nothing, shares nothing; the run goes on and is still served (51)."""
    search = CountingSearch()
    wrapped = with_prefetch(agent(search), ["search"], scope=scope, reuse_seconds=60.0)
    for _ in range(2):
        assert tool_texts(wrapped.invoke(GO, of_tenant("a"))) == ["5 passages about alpha"]
    report = prefetcher_of(wrapped).report()
    assert (len(search), report.served, report.served_reuse, report.troubles) == (2, 2, 0, troubles)


async def test_async_tool_asked_twice() -> None:
    """What is kept of an async tool is its value, which can be handed out twice (52)."""
    search = CountingSearch(style="async")
    graph = agent(search, thinks("alpha"), calls("alpha"), DONE)
    wrapped = with_prefetch(graph, ["search"], reuse_seconds=60.0)
    assert tool_texts(await wrapped.ainvoke(GO)) == ["5 passages about alpha"] * 2
    assert len(search) == 1


@pytest.mark.parametrize("reuse", [None, 60.0])
def test_failures_are_not_kept(reuse: float | None) -> None:
    """After a search that failed early the real call goes to the backend, and only what it gives is kept (57)."""
    times = iter(range(10))

    def answer(query: str, k: int) -> str:
        if next(times) == 0:
            raise ConnectionError("503")
        return f"found {query}"

    search = CountingSearch(answer=answer)
    graph = agent(search, thinks("alpha"), calls("alpha"), DONE)
    wrapped = with_prefetch(graph, ["search"], reuse_seconds=reuse)
    assert tool_texts(wrapped.invoke(GO)) == ["found alpha"] * 2
    assert len(search) == (2 if reuse else 3)


def named_search(answer: str, asked: list[Any]) -> BaseTool:
    def search(query: Any) -> str:
        asked.append(query)
        return answer

    return StructuredTool.from_function(search, name="search", description="Search.")


def test_two_graphs_of_one_scope() -> None:
    """Tools of one name in two graphs under one scope are two tools, unless they are declared equal (39)."""
    asked: list[Any] = []
    llm = model(thinks("alpha"), DONE)
    shared = shared_by("two graphs")
    first, second = (with_prefetch(created(llm, [named_search(name, asked)]), ["search"], **shared) for name in "xy")
    assert [tool_texts(graph.invoke(GO, of_tenant("a"))) for graph in (first, second)] == [["x"], ["y"]]
    policy = ToolPolicy(name="search", identity="docs, epoch 1")
    third, fourth = (with_prefetch(created(llm, [named_search(name, asked)]), [policy], **shared) for name in "zw")
    assert [tool_texts(graph.invoke(GO, of_tenant("a"))) for graph in (third, fourth)] == [["z"], ["z"]]
    assert len(asked) == 3


def test_types_of_arguments_are_told_apart() -> None:
    """``1``, ``True``, ``1.0`` and ``"1"`` are four arguments, also where Python takes three of them for equal (39)."""
    asked: list[Any] = []
    values: list[Any] = [1, True, 1.0, "1"]
    turns = [Turn(calls=[Call("search", {"query": value})]) for value in values]
    llm = ScriptedChatModel(script=[*turns, DONE], seconds_per_token=0.002)
    wrapped = with_prefetch(created(llm, [named_search("found", asked)]), ["search"], reuse_seconds=60.0)
    wrapped.invoke(GO)
    assert [(type(value), value) for value in asked] == [(type(value), value) for value in values]
    assert prefetcher_of(wrapped).report().served_reuse == 0
