"""How much a wrong guess slows the real call, which comes while the guess is still being searched.

    python benchmarks/wrong_guess.py [--json OUT] [--calls 300] [--guesses 1]

Pairs of calls, one with wrong guesses under way and one without, in an order that alternates from pair to pair. A call
is timed from its arrival to the tool's result. ``overhead`` is the ratio of the 95th percentiles less one; the interval
is its 90 % bootstrap interval, and says how much of it may be chance. Promised: at most 2 %.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from langgraph_prefetch.config import Budgets, PrefetchOptions
from langgraph_prefetch.prefetcher import PrefetchEngine, Run
from langgraph_prefetch.speculation.launch import Wish, launch
from langgraph_prefetch.speculation.scheduler import Spent
from langgraph_prefetch.testing.search import FunctionSearch, PlainCaller
from langgraph_prefetch.values import Output, Source

MANY = 10**9
CALLER = PlainCaller({"user": "u1"})
SEARCH_SECONDS = 0.1
CORPUS = [f"passage {number} about {'water earth fire air'.split()[number % 4]}" for number in range(20_000)]


def remote(query: str) -> str:
    """A search over the network by a blocking client."""
    time.sleep(SEARCH_SECONDS)
    return query


async def remote_async(query: str) -> str:
    """A search over the network by an async client."""
    await asyncio.sleep(SEARCH_SECONDS)
    return query


def local(query: str) -> int:
    """A search in this process: a scan of some milliseconds that holds the interpreter."""
    return sum(query in passage for passage in CORPUS)


class Bench:
    """One tool behind one engine."""

    def __init__(self, search: Callable[[str], Any], guesses: int) -> None:
        budgets = Budgets(per_process_per_minute=MANY, per_run=MANY)
        self.engine = PrefetchEngine(PrefetchOptions(budgets=budgets))
        self._search, self._guesses = search, guesses
        self._number = 0

    def tool(self, loop: asyncio.AbstractEventLoop | None) -> FunctionSearch:
        tool = self.engine.tools["search"] = FunctionSearch(self._search, loop=loop)
        return tool

    def begin(self, tool: FunctionSearch, *, guessing: bool) -> Run:
        """A run whose guesses, if any, have just been started, wrongly."""
        run = self.engine.open_run()
        for _ in range(self._guesses if guessing else 0):
            self._number += 1
            query = f"wrong {self._number}"
            wish = Wish(
                tool=tool,
                arguments={"query": query},
                source=Source.REASONING,
                probability=0.9,
                cue="benchmark",
                step=1,
                query=query,
            )
            launch(run._session, wish, CALLER, Spent())
        return run

    def sync(self, pairs: int, gap: float) -> tuple[list[float], list[float]]:
        tool = self.tool(None)
        return _paired(pairs, lambda guessing: self._one(tool, gap, guessing=guessing))

    def awaited(self, pairs: int, gap: float) -> tuple[list[float], list[float]]:
        async def run_all() -> tuple[list[float], list[float]]:
            tool = self.tool(asyncio.get_running_loop())
            times: tuple[list[float], list[float]] = ([], [])
            for guessing in _order(pairs):
                times[guessing].append(await self._one_async(tool, gap, guessing=guessing))
            return times

        return asyncio.run(run_all())

    def _one(self, tool: FunctionSearch, gap: float, *, guessing: bool) -> float:
        run = self.begin(tool, guessing=guessing)
        time.sleep(gap)
        arguments = {"query": "water"}
        began = time.perf_counter()
        call = run.call(tool, arguments, None, CALLER)
        assert call is not None
        assert call.answer() is None
        with call.running():
            output = tool.run(arguments, CALLER)
        call.ran(output)
        took = time.perf_counter() - began
        run.close()
        time.sleep(SEARCH_SECONDS if guessing else 0)  # what was given up does not weigh on the next
        return took

    async def _one_async(self, tool: FunctionSearch, gap: float, *, guessing: bool) -> float:
        run = self.begin(tool, guessing=guessing)
        await asyncio.sleep(gap)
        arguments = {"query": "water"}
        began = time.perf_counter()
        call = run.call(tool, arguments, None, CALLER)
        assert call is not None
        assert await call.aanswer() is None
        with call.running():
            output: Output = await tool.arun(arguments, CALLER)
        call.ran(output)
        took = time.perf_counter() - began
        run.close()
        return took


def _order(pairs: int) -> list[bool]:
    return [guessing for pair in range(pairs) for guessing in ((True, False) if pair % 2 else (False, True))]


def _paired(pairs: int, one: Callable[[bool], float]) -> tuple[list[float], list[float]]:
    times: tuple[list[float], list[float]] = ([], [])
    for guessing in _order(pairs):
        times[guessing].append(one(guessing))
    return times


def p95(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


def overhead(without: list[float], with_guess: list[float]) -> float:
    return p95(with_guess) / p95(without) - 1


def measured(name: str, without: list[float], with_guess: list[float]) -> dict[str, float | str]:
    """The figures of one tool, with a bootstrap interval over pairs."""
    generator, pairs = random.Random(1), list(zip(without, with_guess, strict=True))
    resampled = []
    for _ in range(500):
        drawn = generator.choices(pairs, k=len(pairs))
        resampled.append(overhead([first for first, _ in drawn], [second for _, second in drawn]))
    resampled.sort()
    return {
        "tool": name,
        "pairs": len(pairs),
        "bare_median_ms": round(statistics.median(without) * 1_000, 3),
        "guess_median_ms": round(statistics.median(with_guess) * 1_000, 3),
        "bare_p95_ms": round(p95(without) * 1_000, 3),
        "guess_p95_ms": round(p95(with_guess) * 1_000, 3),
        "overhead": round(overhead(without, with_guess), 4),
        "low": round(resampled[25], 4),
        "high": round(resampled[474], 4),
    }


def main() -> None:
    """Print a line for each tool, and write all of them as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--calls", type=int, default=150, help="pairs of calls for each tool")
    parser.add_argument("--guesses", type=int, default=1, help="wrong guesses under way")
    parser.add_argument("--gap", type=float, default=0.01, help="seconds from the guess to the call")
    arguments = parser.parse_args()
    results = []
    for name, search, is_async in (("sync", remote, False), ("async", remote_async, True), ("local", local, False)):
        bench = Bench(search, arguments.guesses)
        times = (bench.awaited if is_async else bench.sync)(arguments.calls, arguments.gap)
        results.append(measured(name, *times))
        print("  ".join(f"{key} {value}" for key, value in results[-1].items()), flush=True)
        bench.engine.close()
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
