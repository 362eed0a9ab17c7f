"""``PrefetchMiddleware``: innermost and last, one run to each agent run, and the user's own middleware untouched."""

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ToolRetryMiddleware, wrap_model_call, wrap_tool_call
from langchain_core.messages import ToolMessage

from langgraph_prefetch import PrefetchMiddleware
from langgraph_prefetch.errors import MiddlewareOrderError, UnknownToolError
from langgraph_prefetch.events import RunEnded, RunStarted, SearchCallAnswered
from langgraph_prefetch.graph import middleware as module
from langgraph_prefetch.testing.models import Call, Turn, script_by_question
from langgraph_prefetch.testing.tools import CountingSearch
from tests.graph.cases.rigs import DONE, GO, created, model, of_kind, plain, thinks, tool_texts, until, watch


class Guard(AgentMiddleware[Any, Any, Any]):
    """A user's guard: sees every call, may change what comes back."""

    def __init__(self) -> None:
        super().__init__()
        self.saw: list[str] = []

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        self.saw.append(request.tool_call["args"]["query"])
        return self._stamped(handler(request))

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        self.saw.append(request.tool_call["args"]["query"])
        return self._stamped(await handler(request))

    def _stamped(self, message: ToolMessage) -> ToolMessage:
        return message.model_copy(update={"content": f"{message.content}, checked"})


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_the_users_guard_runs_on_served_calls(is_async: bool) -> None:
    """Middleware before ours sees each call and its answer, served or not, and can change it."""
    search, guard, ours = CountingSearch(), Guard(), PrefetchMiddleware(["search"])
    graph = created(model(thinks("alpha"), DONE), [search.tool], middleware=[guard, ours])
    result = asyncio.run(graph.ainvoke(GO)) if is_async else graph.invoke(GO)
    assert tool_texts(result) == ["5 passages about alpha, checked"]
    assert guard.saw == ["alpha"]
    assert (ours.prefetch.report().served, len(search)) == (1, 1)


def test_a_guard_that_refuses_a_call() -> None:
    """A guard that answers a call itself is not passed by: what was speculated is given up."""
    search, ours = CountingSearch(), PrefetchMiddleware(["search"])

    @wrap_tool_call
    def refuse(request: Any, handler: Any) -> Any:
        return ToolMessage("not allowed", tool_call_id=request.tool_call["id"], name="search")

    graph = created(model(thinks("alpha"), DONE), [search.tool], middleware=[refuse, ours])
    assert tool_texts(graph.invoke(GO)) == ["not allowed"]
    report = ours.prefetch.report()
    assert (report.served, report.speculations, report.unsettled) == (0, 1, 0)


def test_a_guard_that_changes_the_query_or_the_tool() -> None:
    """A guard that rewrites the call, or puts another tool in its place, gets the answer to what it asked."""
    search, other, ours = (
        CountingSearch(),
        CountingSearch(answer=lambda query, k: "other"),
        PrefetchMiddleware(["search"]),
    )

    @wrap_tool_call
    def rewrite(request: Any, handler: Any) -> Any:
        if request.tool_call["args"]["query"] == "alpha":
            return handler(request.override(tool_call={**request.tool_call, "args": {"query": "omega"}}))
        return handler(request.override(tool=other.tool))

    graph = created(model(thinks("alpha"), thinks("beta"), DONE), [search.tool], middleware=[rewrite, ours])
    assert tool_texts(graph.invoke(GO)) == ["5 passages about omega", "other"]
    assert ours.prefetch.report().served == 0
    until(lambda: len(search.queries) == 3)
    assert sorted(search.queries) == ["alpha", "beta", "omega"]


def test_order_is_checked_when_the_agent_is_built() -> None:
    """Middleware after ours is an error that names it, before anything runs."""
    search = CountingSearch()
    with pytest.raises(MiddlewareOrderError, match=r"must be the last middleware.*Guard came after it"):
        created(model(DONE), [search.tool], middleware=[PrefetchMiddleware(["search"]), Guard()])
    with pytest.raises(UnknownToolError, match=r"no tool named 'find' in the graph. Its tools: search"):
        created(model(DONE), [search.tool], middleware=[PrefetchMiddleware(["find"])])


def test_order_is_checked_at_the_first_call_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the look at the build fails, a wrong order is found at the first tool call."""
    monkeypatch.setattr(module, "being_built", lambda _: None)
    search = CountingSearch()
    wrong = created(model(thinks("alpha"), DONE), [search.tool], middleware=[PrefetchMiddleware(["search"]), Guard()])
    with pytest.raises(MiddlewareOrderError, match="another middleware that wraps tool calls"):
        wrong.invoke(GO)
    with pytest.raises(MiddlewareOrderError):
        asyncio.run(wrong.ainvoke(GO))
    right = created(model(thinks("alpha"), DONE), [search.tool], middleware=[Guard(), PrefetchMiddleware(["search"])])
    assert tool_texts(right.invoke(GO)) == ["5 passages about alpha, checked"]


def test_middleware_that_wraps_models_may_come_before_and_after_hooks() -> None:
    """Model wrappers, node hooks and tools of other middleware are no obstacle."""

    @wrap_model_call
    def shout(request: Any, handler: Any) -> Any:
        return handler(request)

    search, ours = CountingSearch(), PrefetchMiddleware(["search"])
    graph = created(model(thinks("alpha"), DONE), [search.tool], middleware=[shout, Guard(), ours])
    assert tool_texts(graph.invoke(GO)) == ["5 passages about alpha, checked"]
    assert ours.prefetch.report().served == 1


WORDS = ("alpha", "beta", "gamma", "delta")


async def test_concurrent_runs_with_equal_call_ids() -> None:
    """Runs at the same time whose calls bear equal ids keep apart: each is answered from its own speculation."""
    scripts = {
        word: [
            Turn(reasoning=f"I need to search for {word}. So. ", calls=[Call("search", {"query": word}, "same")]),
            Turn(
                reasoning="I need to search for more. So. ", calls=[Call("search", {"query": f"more {word}"}, "same")]
            ),
            DONE,
        ]
        for word in WORDS
    }
    llm = model(seconds_per_token=0.002).model_copy(update={"script": script_by_question(scripts)})
    search, ours = CountingSearch(answer=lambda query, k: f"found {query}"), PrefetchMiddleware(["search"])
    events = watch(ours.prefetch)
    graph = created(llm, [search.tool], middleware=[ours])
    results = await asyncio.gather(*(graph.ainvoke({"messages": [("user", word)]}) for word in WORDS * 3))
    assert [tool_texts(result) for result in results] == [[f"found {word}", f"found more {word}"] for word in WORDS * 3]
    assert len({event.run_id for event in of_kind(events, RunStarted)}) == 12
    calls_per_run: dict[str, int] = {}
    for event in of_kind(events, SearchCallAnswered):
        calls_per_run[event.run_id] = calls_per_run.get(event.run_id, 0) + 1
    assert set(calls_per_run.values()) == {2}
    assert len(of_kind(events, RunEnded)) == 12
    assert ours.prefetch.report().unsettled == 0


def test_tool_that_is_tried_again() -> None:
    """A retry of the user's around a failing tool works as without us, and the run's later calls are still served."""
    times = iter(range(10))

    def answer(query: str, k: int) -> str:
        if query == "alpha" and next(times) < 2:  # the speculation and the first call
            raise ConnectionError("503")
        return f"found {query}"

    search, ours = CountingSearch(answer=answer), PrefetchMiddleware(["search"])
    retry = ToolRetryMiddleware(max_retries=2, initial_delay=0, jitter=False)
    graph = created(model(thinks("alpha"), thinks("beta"), DONE), [search.tool], middleware=[retry, ours])
    assert tool_texts(graph.invoke(GO)) == ["found alpha", "found beta"]
    report = ours.prefetch.report()
    assert (report.served_reasoning, report.failed) == (1, 1)


@pytest.mark.parametrize("style", ["updates", "messages", "values"])
def test_streams_equal_the_bare_ones(style: Any) -> None:
    """The agent's own stream is the bare one's: the middleware adds no node, update or message."""
    search = CountingSearch()
    turns = (thinks("alpha", "beta"), DONE)
    bare = created(model(*turns), [search.tool])
    held = created(model(*turns), [search.tool], middleware=[PrefetchMiddleware(["search"])])
    assert set(held.nodes) == set(bare.nodes)

    def shape(graph: Any) -> Any:
        parts = list(graph.stream(GO, stream_mode=style))
        if style == "messages":
            return sorted((meta["langgraph_node"], part.text) for part, meta in parts)
        if style == "values":
            return [plain(part["messages"]) for part in parts][-1]
        return sorted(
            (node, message["content"])
            for part in parts
            for node, update in part.items()
            for message in plain(update["messages"])
        )

    assert shape(held) == shape(bare)


def test_pause_and_resume() -> None:
    """The kill switch stops the middleware like any other way in."""
    search, ours = CountingSearch(), PrefetchMiddleware(["search"])
    graph = create_agent(model(thinks("alpha"), DONE), [search.tool], middleware=[ours])
    ours.prefetch.pause()
    assert tool_texts(graph.invoke(GO)) == ["5 passages about alpha"]
    assert ours.prefetch.report().speculations == 0
    ours.prefetch.resume()
    graph.invoke(GO)
    assert ours.prefetch.report().served == 1
