"""What starting a speculation costs the thread that reads the model's stream.

    python benchmarks/launch.py [--json OUT] [--launches 2000]

Each launch is timed from the signal to the executor's having it (key, budgets, cache, event, hand-over), with a real
search under way on a thread or as a coroutine. Launches come a few milliseconds apart, as tokens do. The figures are
microseconds: wall time, and the thread's own CPU time, which other processes of a busy machine do not lengthen. The
floor is what handing a callback to the executor's loop costs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from langgraph_prefetch.config import Budgets, ExecutorLimits, PrefetchOptions
from langgraph_prefetch.prefetcher import PrefetchEngine
from langgraph_prefetch.speculation.launch import Wish, launch
from langgraph_prefetch.speculation.loops import BackgroundLoop
from langgraph_prefetch.speculation.scheduler import Spent
from langgraph_prefetch.speculation.shared import Shared
from langgraph_prefetch.testing.search import FunctionSearch, PlainCaller
from langgraph_prefetch.values import Source

MANY = 10**9
LAUNCHES_PER_RUN = 50
UNLIMITED = Budgets(
    guesses_per_step=MANY, sealed_per_step=MANY, per_run=MANY, per_scope_per_minute=MANY, per_process_per_minute=MANY
)
CALLER = PlainCaller({"user": "u1", "thread_id": "t1"})


def blocking(query: str) -> str:
    time.sleep(0.02)
    return query


async def coroutine(query: str) -> str:
    await asyncio.sleep(0.02)
    return query


Times = list[tuple[float, float]]
"""Wall and CPU microseconds of each launch."""


def timed(work: Callable[[], object]) -> tuple[float, float]:
    wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
    work()
    return (time.perf_counter_ns() - wall) / 1_000, (time.thread_time_ns() - cpu) / 1_000


def launches(search: Callable[[str], Any], count: int, pause: float) -> Times:
    shared = Shared.made(BackgroundLoop(), limits=ExecutorLimits(max_running=64, max_queued=10_000))
    engine = PrefetchEngine(PrefetchOptions(budgets=UNLIMITED), shared=shared)
    tool = engine.tools["search"] = FunctionSearch(search)
    run = engine.open_run({"user": "u1"})
    times = []
    for number in range(count):
        if number % LAUNCHES_PER_RUN == 0:
            run.close()
            run = engine.open_run({"user": "u1"})
        query = f"query {number}"
        wish = Wish(
            tool=tool,
            arguments={"query": query},
            source=Source.REASONING,
            probability=0.9,
            cue="benchmark",
            step=1,
            query=query,
        )
        times.append(timed(partial(launch, run._session, wish, CALLER, Spent())))
        time.sleep(pause)
    assert engine.report().speculations == count
    engine.close()
    shared.executor.close()
    return times


def floor(count: int, pause: float) -> Times:
    host = BackgroundLoop()
    times = []
    for _ in range(count):
        times.append(timed(lambda: host.call(lambda: None)))
        time.sleep(pause)
    host.close()
    return times


def measured(name: str, times: Times) -> dict[str, float | str]:
    """The figures of one kind of search; the first tenth warms up."""
    figures: dict[str, float | str] = {"search": name, "launches": len(times)}
    for kind, values in zip(("wall", "cpu"), zip(*times[len(times) // 10 :], strict=True), strict=True):
        ordered = sorted(values)
        figures[f"{kind}_median_us"] = round(statistics.median(ordered), 1)
        figures[f"{kind}_p99_us"] = round(ordered[int(len(ordered) * 0.99)], 1)
    return figures


def main() -> None:
    """Print a line for each kind of search, and write all of them as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--launches", type=int, default=2_000)
    parser.add_argument("--pause", type=float, default=0.003, help="seconds between launches")
    arguments = parser.parse_args()
    results = []
    for name, times in (
        ("floor", floor(arguments.launches, arguments.pause)),
        ("thread", launches(blocking, arguments.launches, arguments.pause)),
        ("coroutine", launches(coroutine, arguments.launches, arguments.pause)),
    ):
        results.append(measured(name, times))
        print("  ".join(f"{key} {value}" for key, value in results[-1].items()), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
