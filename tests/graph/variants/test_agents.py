"""Prefetch settings as variants of an agent of create_agent."""

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, wrap_tool_call

from langgraph_prefetch import PrefetchVariantsMiddleware, with_prefetch
from langgraph_prefetch.errors import AlreadyWrappedError, MiddlewareOrderError, UnknownOptionError, UnknownToolError
from langgraph_prefetch.observe.variants import VariantRuns
from tests.graph.cases.rigs import DONE, GO, model, thinks, tool_texts
from tests.graph.variants.rigs import keys_of, of_user, telling

ARMS: dict[str, Any] = {"bare": None, "usual": {}, "verified": {"serve": "verified"}}


def middleware(name: str, **options: Any) -> PrefetchVariantsMiddleware:
    return PrefetchVariantsMiddleware(["search"], name=name, key="user", **{"variants": ARMS, **options})


@pytest.mark.parametrize("style", ["sync", "async"])
async def test_each_run_has_the_settings_of_its_variant(style: str) -> None:
    """One agent; what it answers is the same, and each run is in the report of its variant alone."""
    choosing, search = middleware(style), telling("x")
    agent: Any = create_agent(model(thinks("alpha"), DONE), [search.tool], middleware=[choosing])
    runs = VariantRuns(style)
    choosing.prefetch.subscribe(runs)
    for variant in ARMS:
        (user,) = keys_of(choosing.prefetch.experiment, variant, 1)
        if style == "async":
            said = await agent.ainvoke(GO, of_user(user))
        else:
            said = await asyncio.to_thread(agent.invoke, GO, of_user(user))
        assert tool_texts(said) == ["alpha by x"]
    assert [(run.variant, run.served) for run in runs.runs] == [("bare", 0), ("usual", 1), ("verified", 1)]
    assert len(search) == 3
    assert {name: report.served for name, report in choosing.prefetch.reports().items()} == {
        "bare": 0,
        "usual": 1,
        "verified": 1,
    }


def test_settings_swapped_live_know_the_agent() -> None:
    """Settings that come later are told what the agent was built of: an approval is still seen."""
    choosing = middleware("live", variants={"one": {}, "two": {}})
    asking = HumanInTheLoopMiddleware(interrupt_on={"search": True})
    create_agent(model(DONE), [telling("x").tool], middleware=[asking, choosing])
    choosing.prefetch.swap({"one": {"threshold": 0.4}})
    assert all("search" in each.refusals for each in choosing.prefetch.prefetchers.values())


def test_wrong_use() -> None:
    """Every variant is held to what one prefetcher is held to."""
    tool = telling("x").tool

    @wrap_tool_call
    def later(request: Any, handler: Any) -> Any:
        return handler(request)

    with pytest.raises(MiddlewareOrderError):
        create_agent(model(DONE), [tool], middleware=[middleware("order"), later])
    with pytest.raises(UnknownToolError):
        create_agent(model(DONE), [telling("x", name="find").tool], middleware=[middleware("unknown")])
    with pytest.raises(UnknownOptionError):
        middleware("typo", variants={"a": {"treshold": 0.3}})
    with pytest.raises(AlreadyWrappedError):
        with_prefetch(create_agent(model(DONE), [tool], middleware=[middleware("twice")]), ["search"])
