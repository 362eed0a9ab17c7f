"""Case 38 and the life of many graphs: whatever ends a run ends its speculations, and nothing of it stays behind."""

import asyncio
import gc
import weakref
from typing import Any

import pytest

from langgraph_prefetch import ExecutorLimits, PrefetchMiddleware, limit_process, prefetcher_of, with_prefetch
from langgraph_prefetch.events import RunEnded, SpeculationEnded, SpeculationStarted
from langgraph_prefetch.speculation.shared import Shared, process_wide
from langgraph_prefetch.testing.models import Call, Turn
from langgraph_prefetch.testing.tools import CountingSearch
from tests.graph.cases.rigs import DONE, GO, created, held, model, of_kind, thinks, tool_texts, until, watch

LONG = Turn(reasoning="I need to search for alpha. " + "And then I think on and on. " * 40, text="So.")


async def _seen(events: list[Any], kind: type[Any]) -> None:
    for _ in range(1_000):
        if of_kind(events, kind):
            return
        await asyncio.sleep(0.002)
    pytest.fail(f"no {kind.__name__}")


async def test_cancelled_run() -> None:
    """A run cancelled in mid-thought takes its speculation with it, and the caller sees the cancellation (38)."""
    search = CountingSearch(style="async", seconds=5)
    wrapped = with_prefetch(created(model(LONG), [search.tool]), ["search"])
    events = watch(wrapped)
    run = asyncio.create_task(wrapped.ainvoke(GO))
    await _seen(events, SpeculationStarted)
    async with asyncio.timeout(20):
        while not search.queries:  # noqa: ASYNC110 - it begins on this loop whenever another thread says so
            await asyncio.sleep(0.001)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    await _seen(events, SpeculationEnded)
    assert [event.fate for event in of_kind(events, SpeculationEnded)] == ["cancelled"]
    assert len(of_kind(events, RunEnded)) == 1
    for _ in range(1_000):
        if len(asyncio.all_tasks()) == 1:
            break
        await asyncio.sleep(0.002)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert (len(search), search.ended) == (1, 0)


async def test_consumer_that_stops_reading() -> None:
    """Breaking out of a stream ends the run and its speculations, in an event loop as in a thread (38)."""
    search = CountingSearch(style="both", seconds=0.02)
    wrapped = with_prefetch(created(model(LONG), [search.tool]), ["search"])
    events = watch(wrapped)
    stream: Any = wrapped.astream(GO, stream_mode="messages")
    async for _ in stream:
        if of_kind(events, SpeculationStarted):
            break
    await stream.aclose()
    assert len(of_kind(events, RunEnded)) == 1

    def read_a_little() -> None:
        for _ in wrapped.stream(GO, stream_mode="messages"):
            if len(of_kind(events, SpeculationStarted)) == 2:
                break

    await asyncio.to_thread(read_a_little)
    gc.collect()
    assert len(of_kind(events, RunEnded)) == 2
    report = prefetcher_of(wrapped).report()
    assert (report.unsettled, report.troubles) == (0, 0)


async def test_waiter_of_another_run_still_gets_its_answer() -> None:
    """Where two runs of one scope wait for one retrieval, cancelling the one leaves it to the other (38)."""
    search = CountingSearch(style="sync", seconds=0.08)
    wrapped = with_prefetch(
        created(model(thinks("alpha"), DONE), [search.tool]), ["search"], scope=lambda _: "waiters", reuse_seconds=60.0
    )
    events = watch(wrapped)
    first, second = (asyncio.create_task(wrapped.ainvoke(GO)) for _ in range(2))
    await _seen(events, SpeculationStarted)
    await asyncio.sleep(0.02)
    first.cancel()
    assert tool_texts(await second) == ["5 passages about alpha"]
    with pytest.raises(asyncio.CancelledError):
        await first
    assert len(search) == 1


async def test_middleware_run_that_is_cancelled_or_fails() -> None:
    """Without a wrapper to see the end, the middleware ends its run with a cancellation in model or tool."""
    for seconds, turn in ((5.0, LONG), (5.0, thinks("alpha"))):
        search, ours = CountingSearch(style="async", seconds=seconds), PrefetchMiddleware(["search"])
        events = watch(ours.prefetch)
        graph = created(model(turn), [search.tool], middleware=[ours])
        run = asyncio.create_task(graph.ainvoke(GO))
        await _seen(events, SpeculationStarted)
        await asyncio.sleep(0.1 if turn is not LONG else 0.01)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert len(of_kind(events, RunEnded)) == 1
        assert ours.prefetch.report().unsettled == 0


@pytest.mark.parametrize("where", ["model", "tool"])
def test_run_that_fails(where: str) -> None:
    """An error of the model's or the tool's own reaches the caller as it is, and ends the run (38)."""

    def fails(query: str, k: int) -> str:
        raise ConnectionError("no backend")

    search = CountingSearch(answer=fails)
    broken = Turn(reasoning="I need to search for alpha. So I think. ", error=TimeoutError("no model"))
    turns = (broken,) if where == "model" else (thinks("alpha"), DONE)
    expected: Any = (TimeoutError, "no model") if where == "model" else (ConnectionError, "no backend")
    ours = PrefetchMiddleware(["search"])
    wrapped = with_prefetch(created(model(*turns), [search.tool]), ["search"])
    held_by_middleware = created(model(*turns), [search.tool], middleware=[ours])
    for graph, prefetch in ((wrapped, prefetcher_of(wrapped)), (held_by_middleware, ours.prefetch)):
        events = watch(prefetch)
        with pytest.raises(expected[0], match=expected[1]):
            graph.invoke(GO)
        assert len(of_kind(events, RunEnded)) == 1
        until(lambda prefetch=prefetch: prefetch.report().unsettled == 0)  # type: ignore[misc]


def ten_wrapped(shared: Shared) -> list[weakref.ref[Any]]:
    """One graph wrapped ten times and run once, as its parts are seen from afar."""
    seen: list[weakref.ref[Any]] = []
    search = CountingSearch()
    bare = created(model(thinks("alpha"), DONE, seconds_per_token=0), [search.tool])
    for place in range(10):
        wrapped = with_prefetch(bare, ["search"])
        assert prefetcher_of(wrapped).shared is shared
        seen += [weakref.ref(wrapped), weakref.ref(prefetcher_of(wrapped)), weakref.ref(search.tool)]
        if place == 0:
            wrapped.invoke(GO)
    return seen


def test_graphs_made_per_request_leave_nothing() -> None:
    """Graphs made, wrapped 200 times, run and dropped are all collected; the one executor behind is empty again."""
    limit_process(ExecutorLimits())  # anew, so that the first run is the one that starts the executor's threads
    shared = process_wide()
    gone = [each for _ in range(20) for each in ten_wrapped(shared)]
    until(lambda: shared.executor.running == 0)

    def all_gone() -> bool:
        gc.collect()
        return not any(each() is not None for each in gone)

    until(all_gone)  # a thread may still be on its way out


def test_calls_of_one_request_do_not_starve_another() -> None:
    """A process-wide executor full of hanging guesses makes later ones misses: every run still ends as it should."""
    with held() as gate:

        def answer(query: str, k: int) -> str:
            if query.startswith("hang"):
                gate.wait(10)
            return f"found {query}"

        turn = Turn(
            reasoning="".join(f"I need to search for hang{number}. " for number in range(3)),
            calls=[Call("search", {"query": "alpha"})],
        )
        for _ in range(6):
            search = CountingSearch(answer=answer)
            wrapped = with_prefetch(created(model(turn, DONE, seconds_per_token=0.001), [search.tool]), ["search"])
            assert tool_texts(wrapped.invoke(GO)) == ["found alpha"]
