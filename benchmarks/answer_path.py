"""What a served call costs in the answer path, against looking up nothing.

    python benchmarks/answer_path.py [--json OUT] [--calls 2000] [--thought 400]

A call is timed from its arrival (key, readable moment, look-up) to the output in hand, sync and async, where the
result is ready; the output is a list of ten passages. Each call follows a thought of ``--thought`` pieces. Figures are
milliseconds. ``miss`` is the same path where nothing was speculated.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from pathlib import Path
from typing import Any

from langgraph_prefetch.config import Budgets, PrefetchOptions
from langgraph_prefetch.intent.reader import IntentContext, IntentReader, IntentSettings
from langgraph_prefetch.prefetcher import PrefetchEngine, Run
from langgraph_prefetch.speculation.launch import Wish, launch
from langgraph_prefetch.speculation.scheduler import Spent
from langgraph_prefetch.testing.search import FunctionSearch, PlainCaller
from langgraph_prefetch.values import Source, TextDelta

MANY = 10**9
CALLER = PlainCaller({"user": "u1", "thread_id": "t1"})
PASSAGES = [{"title": f"passage {number}", "text": "words " * 100, "score": number / 10} for number in range(10)]


def search(query: str) -> list[dict[str, Any]]:
    return PASSAGES


class Scene:
    """An engine with one run per call: a thought that names the query, and its search done."""

    def __init__(self, thought: int, **options: Any) -> None:
        budgets = Budgets(per_process_per_minute=MANY)
        self.engine = PrefetchEngine(PrefetchOptions(budgets=budgets, **options))
        self.tool = self.engine.tools["search"] = FunctionSearch(search)
        self._thought = thought

    def run(self, query: str, *, speculated: bool) -> Run:
        run = self.engine.open_run({"user": "u1"})
        step = run.begin_step("m")
        step.reader = IntentReader(IntentSettings(reasoning=False), IntentContext())
        words = ["word "] * self._thought + query.split(" ")
        run.hear("m", [TextDelta(word) for word in words], lambda: CALLER)
        if speculated:
            wish = Wish(
                tool=self.tool,
                arguments={"query": query},
                source=Source.REASONING,
                probability=0.9,
                cue="benchmark",
                step=1,
                query=query,
            )
            launch(run._session, wish, CALLER, Spent())
            while not run._session.own or any(entry.state != "ready" for entry in run._session.own.entries()):
                time.sleep(0.0002)
        return run


def sync_times(scene: Scene, calls: int, *, speculated: bool) -> list[float]:
    times = []
    for number in range(calls):
        query = f"query {number}"
        run = scene.run(query, speculated=speculated)
        began = time.perf_counter_ns()
        call = run.call(scene.tool, {"query": query}, f"call_{number}", CALLER)
        output = call.answer() if call is not None else None
        times.append((time.perf_counter_ns() - began) / 1_000_000)
        assert (output is not None) == speculated
        run.close()
    return times


async def async_times(scene: Scene, calls: int, *, speculated: bool) -> list[float]:
    times = []
    for number in range(calls):
        query = f"query {number}"
        run = scene.run(query, speculated=speculated)
        began = time.perf_counter_ns()
        call = run.call(scene.tool, {"query": query}, f"call_{number}", CALLER)
        output = await call.aanswer() if call is not None else None
        times.append((time.perf_counter_ns() - began) / 1_000_000)
        assert (output is not None) == speculated
        run.close()
    return times


def measured(name: str, times: list[float]) -> dict[str, float | str]:
    """The figures of one way; the first tenth warms up."""
    ordered = sorted(times[len(times) // 10 :])
    return {
        "path": name,
        "calls": len(ordered),
        "median_ms": round(statistics.median(ordered), 4),
        "p99_ms": round(ordered[int(len(ordered) * 0.99)], 4),
    }


def main() -> None:
    """Print a line for each way, and write all of them as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--calls", type=int, default=2_000)
    parser.add_argument("--thought", type=int, default=400, help="pieces heard before the call")
    arguments = parser.parse_args()
    results = []
    for mode, options in (("exact", {}), ("reuse", {"reuse_seconds": 30.0})):
        scene = Scene(arguments.thought, **options)
        for speculated, name in ((True, "served"), (False, "miss")):
            sync = sync_times(scene, arguments.calls, speculated=speculated)
            results.append(measured(f"{mode} {name} sync", sync))
            awaited = asyncio.run(async_times(scene, arguments.calls, speculated=speculated))
            results.append(measured(f"{mode} {name} async", awaited))
        scene.engine.close()
    for result in results:
        print("  ".join(f"{key} {value}" for key, value in result.items()))
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
