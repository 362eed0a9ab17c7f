"""Two hundred runs at once in one process: each has its own answer, none is lost, and the process's limits hold."""

from collections.abc import Iterator

import pytest

from benchmarks.crowd import crowd, graph_of
from langgraph_prefetch import Budgets, ExecutorLimits, ToolPolicy, limit_process, prefetcher_of, with_prefetch
from langgraph_prefetch.config import ScopeOf
from langgraph_prefetch.speculation.shared import process_wide

RUNS = 200


@pytest.fixture
def few_places() -> Iterator[int]:
    limit_process(ExecutorLimits(max_running=6, max_queued=10))
    yield 6
    process_wide().executor.close()
    limit_process(ExecutorLimits())


@pytest.mark.slow
@pytest.mark.parametrize("scope", [None, lambda _: "everyone"], ids=["each for itself", "one for all"])
async def test_two_hundred_runs_are_answered_right(few_places: int, scope: ScopeOf | None) -> None:
    """Served or missed, shed or queued: every answer is the caller's own and every speculation has its end."""
    graph = with_prefetch(graph_of(seconds=0.05, seconds_per_token=0.002), tools=["search"], scope=scope)
    came_to = await crowd(graph, RUNS, apart=0.002)
    assert came_to.wrong == []
    assert not came_to.does_not_add_up, came_to.report
    report = came_to.report
    assert report is not None
    assert (report.runs, report.search_calls) == (RUNS, RUNS)
    assert report.served > 0
    assert came_to.most_running <= few_places
    assert (process_wide().executor.running, len(prefetcher_of(graph)._runs)) == (0, 0)


@pytest.mark.slow
async def test_where_there_is_no_room_real_calls_go_on(few_places: int) -> None:
    """A quota of two calls at once, of which one is kept for real ones: speculation is shed, and no call is lost."""
    policy = ToolPolicy(name="search", max_concurrency=2, reserve=1)
    graph = with_prefetch(graph_of(seconds=0.05, seconds_per_token=0.002), tools=[policy])
    came_to = await crowd(graph, 60, apart=0.0)
    assert came_to.wrong == []
    assert not came_to.does_not_add_up, came_to.report
    assert came_to.most_running <= 1  # two at once, of which one is kept for real calls
    report = came_to.report
    assert report is not None
    assert report.misses > 0


async def test_the_budget_of_the_process_is_one_for_all_graphs(few_places: int) -> None:
    """Two wrapped graphs start no more between them than the process may in a minute; the rest are misses."""
    budgets = Budgets(per_process_per_minute=5)
    graphs = [
        with_prefetch(graph_of(seconds=0.01, seconds_per_token=0.001), tools=["search"], budgets=budgets)
        for _ in range(2)
    ]
    crowds = [await crowd(graph, 10, apart=0.0) for graph in graphs]
    reports = [each.report for each in crowds if each.report is not None]
    assert [each.wrong for each in crowds] == [[], []]
    assert sum(report.speculations for report in reports) == 5
    assert sum(report.misses for report in reports) >= 15
    assert dict(reports[1].ignored)["budget: per_process_per_minute"] >= 10
