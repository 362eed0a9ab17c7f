"""Thousands of runs through one wrapped graph: what is left behind by each. Memory and descriptors must stay flat.

    python benchmarks/soak.py [--runs 10000] [--bare] [--json OUT]

Half of the runs are made by four threads, half by eight tasks of an event loop that is new in each round. In turn they
are served, guessed wrong, streamed, listened to by events, cut off, dropped, cancelled, and failed by the tool or by
the model. Every fiftieth run has a tool, a graph and a wrapping of its own, as in a server that builds its agent per
request. The model is scripted and does not wait.

After each round all that is under way may end, then a sample is taken. The rules, over the last 80 % of the runs:

- resident memory grows by less than 600 KB in 1,000 runs (median slope of all pairs of samples, Theil-Sen). It grows in
  steps of the allocator's arenas, with a bare graph too (`--bare`), until those are as scattered as they get;
- objects known to the garbage collector grow by less than 100 in 1,000 runs, and blocks of Python's allocator by less
  than 300, by the same measure. These are the sharp ones. Start times that the per-minute budget counts are left out:
  they go after a minute;
- descriptors and threads are as many at the end as after the warm-up;
- no executor place, cache entry or open run is left, every speculation has its end, and nothing of ours failed.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import gc
import itertools
import json
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool, tool

from langgraph_prefetch import Budgets, prefetcher_of, with_prefetch
from langgraph_prefetch.speculation.shared import process_wide
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn
from langgraph_prefetch.testing.script import turn_of

THREADS, TASKS = 4, 8
OWN_GRAPH_EVERY = 50
WARM_UP = 0.2
LIMITS_PER_THOUSAND = {"kilobytes": 600.0, "objects": 100.0, "blocks": 300.0}
MUST_BE_NONE = ("places", "queued", "lanes", "shared_entries", "resumable", "open_runs")
SETTLING_SECONDS = 10.0
MOST_COLLECTIONS = 5
STATM, DESCRIPTORS = Path("/proc/self/statm"), Path("/proc/self/fd")


# --- the runs


def _said(messages: Sequence[BaseMessage]) -> Turn:
    topic = str(messages[0].text)
    asked = f"The other of {topic}" if topic.startswith("Wrong") else topic
    thought = f"I need to search {topic}, and then I will know more of it."
    if topic.startswith("Broken"):
        return Turn(text=thought, error=ConnectionError("the model broke off"))
    return turn_of((Turn(text=thought, calls=[Call("search", {"query": asked})]), Turn(text="That was it.")), messages)


def _search_tool() -> BaseTool:
    def search(query: str) -> str:
        """Search for passages."""
        time.sleep(0.001)
        return _found(query)

    async def asearch(query: str) -> str:
        """Search for passages."""
        await asyncio.sleep(0.001)
        return _found(query)

    both: BaseTool = tool(search)
    return both.model_copy(update={"coroutine": asearch})


def _found(query: str) -> str:
    if query.startswith("Failing"):
        raise LookupError(query)
    return f"passages about {query}"


def new_graph(*, bare: bool = False) -> Any:
    """A graph with a tool of its own, wrapped; the budget of a process would end its speculations after a while."""
    agent = create_agent(ScriptedChatModel(script=_said), [_search_tool()])
    return agent if bare else with_prefetch(agent, tools=["search"], budgets=Budgets(per_process_per_minute=10**6))


Ask = dict[str, Any]


def _asking(topic: str) -> Ask:
    return {"messages": [("user", topic)]}


def _cut_off(graph: Any, ask: Ask) -> None:
    parts = graph.stream(ask, stream_mode="messages")
    next(parts)
    parts.close()


async def _read(graph: Any, ask: Ask) -> None:
    async for _ in graph.astream(ask, stream_mode="messages"):
        pass


async def _read_events(graph: Any, ask: Ask) -> None:
    async for _ in graph.astream_events(ask, version="v2"):
        pass


async def _drop(graph: Any, ask: Ask) -> None:
    async for _ in graph.astream(ask, stream_mode="messages"):
        break


async def _cancel(graph: Any, ask: Ask) -> None:
    task = asyncio.create_task(graph.ainvoke(ask))
    await asyncio.sleep(0.004)
    task.cancel()
    await asyncio.wait([task])


SYNC: tuple[tuple[str, Callable[[Any, Ask], Any]], ...] = (
    ("Served", lambda graph, ask: graph.invoke(ask)),
    ("Wrong", lambda graph, ask: graph.invoke(ask)),
    ("Streamed", lambda graph, ask: list(graph.stream(ask, stream_mode="updates"))),
    ("Cut", _cut_off),
    ("Failing", lambda graph, ask: graph.invoke(ask)),
)
ASYNC: tuple[tuple[str, Callable[[Any, Ask], Any]], ...] = (
    ("Served", lambda graph, ask: graph.ainvoke(ask)),
    ("Read", _read),
    ("Events", _read_events),
    ("Dropped", _drop),
    ("Cancelled", _cancel),
    ("Broken", lambda graph, ask: graph.ainvoke(ask)),
)


class Soak:
    """Runs in rounds; ``graph`` serves all of them but each fiftieth."""

    def __init__(self, *, bare: bool = False) -> None:
        self._bare = bare
        self.graph = new_graph(bare=bare)
        self.prefetch = None if bare else prefetcher_of(self.graph)
        self.ended = 0
        self._numbers = itertools.count()

    def round(self, pool: ThreadPoolExecutor, runs: int) -> None:
        """``runs`` more, half of them in threads and half, at the same time, in an event loop."""
        threads = [pool.submit(self._sync, next(self._numbers)) for _ in range(runs // 2)]
        asyncio.run(self._tasks([next(self._numbers) for _ in range(runs - runs // 2)]))
        for each in threads:
            each.result()
        self.ended += runs

    def _of(self, number: int) -> Any:
        return new_graph(bare=self._bare) if number % OWN_GRAPH_EVERY == OWN_GRAPH_EVERY - 1 else self.graph

    def _sync(self, number: int) -> None:
        name, run = SYNC[number % len(SYNC)]
        try:
            run(self._of(number), _asking(f"{name} {number}"))
        except LookupError:
            assert name == "Failing", name

    async def _tasks(self, numbers: list[int]) -> None:
        left = iter(numbers)

        async def work() -> None:
            for number in left:
                name, run = ASYNC[number % len(ASYNC)]
                try:
                    await run(self._of(number), _asking(f"{name} {number}"))
                except ConnectionError:
                    assert name == "Broken", name

        await asyncio.gather(*(work() for _ in range(TASKS)))


# --- what is left behind


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What stands after ``runs`` runs, with nothing under way. ``generations``: of the garbage collector."""

    runs: int
    kilobytes: int
    objects: int
    blocks: int
    descriptors: int
    threads: int
    places: int
    queued: int
    lanes: int
    shared_entries: int
    resumable: int
    open_runs: int
    generations: tuple[int, int, int]


def sample(soak: Soak) -> Sample:
    """Let everything that is under way end, and look."""
    shared = process_wide()
    executor = shared.executor
    until = time.monotonic() + SETTLING_SECONDS
    while (executor.running or (soak.prefetch and soak.prefetch.report().unsettled)) and time.monotonic() < until:
        time.sleep(0.002)
    generations = gc.get_count()
    _collect()
    return Sample(
        runs=soak.ended,
        kilobytes=int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024,
        objects=len(gc.get_objects()),
        blocks=sys.getallocatedblocks() - len(shared.ledger._process._times),
        descriptors=len(os.listdir(DESCRIPTORS)),
        threads=threading.active_count(),
        places=executor.running,
        queued=len(executor._queue),
        lanes=len(executor._lanes),
        shared_entries=len(shared.cache),
        resumable=len(shared.resumable._answers),
        open_runs=len(soak.prefetch._runs) if soak.prefetch else 0,
        generations=generations,
    )


def _collect() -> None:
    """What a finalizer let go of is found by the next collection only."""
    for _ in range(MOST_COLLECTIONS):
        if not gc.collect():
            return


def slope(samples: Sequence[Sample], name: str) -> float:
    """How much ``name`` grows in 1,000 runs: the median slope of all pairs (Theil-Sen), which no one sample moves."""
    points = [(each.runs / 1_000, float(getattr(each, name))) for each in samples]
    slopes = [(y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in itertools.combinations(points, 2)]
    return statistics.median(slopes) if slopes else 0.0


def after_warm_up(samples: Sequence[Sample]) -> list[Sample]:
    """Those of the last 80 % of the runs."""
    return [each for each in samples if each.runs >= samples[-1].runs * WARM_UP]


def broken_rules(samples: Sequence[Sample], limits: Mapping[str, float] = LIMITS_PER_THOUSAND) -> list[str]:
    """What was left behind, in words; nothing if the samples are flat after the warm-up."""
    warm = after_warm_up(samples)
    first, last = warm[0], warm[-1]
    broken = [
        f"{name} grew by {grown:.1f} in 1,000 runs, at most {limit:g} may"
        for name, limit in limits.items()
        if (grown := slope(warm, name)) >= limit
    ]
    broken += [
        f"{name}: {getattr(first, name)} after the warm-up, {getattr(last, name)} at the end"
        for name in ("descriptors", "threads")
        if getattr(first, name) != getattr(last, name)
    ]
    left = {name: max(getattr(each, name) for each in warm) for name in MUST_BE_NONE}
    return broken + [f"{name}: {count} left" for name, count in left.items() if count]


def soaked(soak: Soak, runs: int, rounds: int, show: Callable[[Sample], None] = lambda _: None) -> list[Sample]:
    """A sample after each of ``rounds`` rounds, ``runs`` runs in all."""
    samples = []
    with ThreadPoolExecutor(THREADS) as pool:
        for _ in range(rounds):
            soak.round(pool, runs // rounds)
            samples.append(sample(soak))
            show(samples[-1])
    return samples


def main() -> int:
    """Print a row for each sample and the verdict; write all of it as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--bare", action="store_true", help="the same graph without prefetch, to compare with")
    arguments = parser.parse_args()
    if not STATM.exists():
        print("soak: it reads /proc, which this system does not have")
        return 2
    columns = [each.name for each in dataclasses.fields(Sample)]
    print("  ".join(columns))

    def show(each: Sample) -> None:
        print("  ".join(str(getattr(each, name)).rjust(len(name)) for name in columns), flush=True)

    began = time.monotonic()
    soak = Soak(bare=arguments.bare)
    samples = soaked(soak, arguments.runs, arguments.rounds, show)
    seconds = time.monotonic() - began
    broken = broken_rules(samples)
    if soak.prefetch:
        report = soak.prefetch.report()
        print(f"\n{report}")
        if report.troubles or report.unsettled:
            broken.append(f"failures of ours: {report.troubles}, speculations without an end: {report.unsettled}")
    warm = after_warm_up(samples)
    grown = {f"{name}_per_1000_runs": round(slope(warm, name), 1) for name in LIMITS_PER_THOUSAND}
    told = ", ".join(f"{name} {value:+}" for name, value in grown.items())
    print(f"\n{soak.ended} runs in {seconds:.0f} s; {told}: {'; '.join(broken) or 'flat'}")
    if arguments.json:
        figures: dict[str, Any] = {"runs": soak.ended, "seconds": round(seconds, 1), **grown, "broken": broken}
        figures["samples"] = [dataclasses.asdict(each) for each in samples]
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
