"""Where something is short, speculation goes first: real calls neither wait for it nor fail because of it."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from langgraph_prefetch.config import ExecutorLimits, PrefetchOptions, ToolPolicy
from langgraph_prefetch.prefetcher import PrefetchEngine, Run
from langgraph_prefetch.speculation.loop_load import BUSY_SECONDS
from langgraph_prefetch.speculation.loops import BackgroundLoop
from langgraph_prefetch.speculation.shared import Shared
from langgraph_prefetch.testing.search import FunctionSearch, PlainCaller
from tests.speculation.rig import finish, seal


@contextmanager
def engine_with(tool: FunctionSearch, limits: ExecutorLimits | None = None) -> Iterator[tuple[PrefetchEngine, Run]]:
    shared = Shared.made(BackgroundLoop(), limits=limits)
    engine = PrefetchEngine(PrefetchOptions(), shared=shared)
    engine.tools["search"] = tool
    try:
        yield engine, engine.open_run()
    finally:
        engine.close()
        shared.executor.close()


class HeldSearch(FunctionSearch):
    """Queries of ``held`` wait until ``go`` is set; others are answered at once."""

    def __init__(self, policy: ToolPolicy | None = None, *, held: str = "held") -> None:
        super().__init__(self._find, policy=policy)
        self.go, self._held = threading.Event(), held

    def _find(self, query: str) -> str:
        if query.startswith(self._held):
            self.go.wait(30)
        return f"found {query}"


def ignored(engine: PrefetchEngine) -> dict[str, int]:
    return dict(engine.report().ignored)


def test_a_full_pool_sheds_guesses_and_no_call() -> None:
    """One place taken, one queued, the rest rejected; every real call is answered while the place is still taken."""
    tool = HeldSearch()
    with engine_with(tool, ExecutorLimits(max_running=1, max_queued=1)) as (engine, run):
        for number in range(5):
            seal(run, f"held {number}" if number == 0 else f"query {number}")
        assert ignored(engine) == {"rejected: queue full": 3}
        assert [finish(engine, run, f"query {number}") for number in range(1, 5)] == [
            f"found query {number}" for number in range(1, 5)
        ]
        assert engine.shared.executor.running == 1
        tool.go.set()
        assert finish(engine, run, "held 0") == "found held 0"


@pytest.mark.parametrize(
    "policy",
    [
        ToolPolicy(name="search", max_concurrency=2, reserve=1),
        ToolPolicy(name="search", max_concurrency=1),
        ToolPolicy(name="search", max_per_second=0.01),
    ],
    ids=["a place kept", "no place to spare", "a rate used up"],
)
def test_a_short_quota_sheds_guesses_and_no_call(policy: ToolPolicy) -> None:
    """Whatever speculation holds of the quota, and however many calls come: each runs at once, by its tool."""
    tool = HeldSearch(policy)
    with engine_with(tool) as (engine, run):
        for query in ("held", "query 1", "query 2"):
            seal(run, query)
        run.catch_up()
        running = engine.shared.executor.running
        assert running <= 1
        for number in range(1, 6):  # if one of them waited for what is held, it would be for half a minute
            assert finish(engine, run, f"query {number}") == f"found query {number}"
        report = engine.report()
        assert (report.search_calls, report.misses) == (5, 5)
        assert engine.shared.executor.running == running
        tool.go.set()


async def test_a_blocked_loop_sheds_guesses_and_no_call() -> None:
    """While the caller's own code holds its loop up, nothing is added to it, and the event says why."""

    async def search(query: str) -> str:
        return f"found {query}"

    tool = FunctionSearch(search, loop=asyncio.get_running_loop())
    with engine_with(tool) as (engine, run):
        seal(run, "first")
        time.sleep(2 * BUSY_SECONDS + 0.2)  # noqa: ASYNC251 - this is the block
        for number in range(3):
            seal(run, f"query {number}")
        assert ignored(engine) == {"rejected: loop busy": 3}
        call = run.call(tool, {"query": "query 0"}, None, PlainCaller())
        assert call is not None
        assert await call.aanswer() is None
        with call.running():
            output = await tool.arun({"query": "query 0"}, PlainCaller())
        call.ran(output)
        assert output.content == "found query 0"
        assert engine.report().misses == 1
