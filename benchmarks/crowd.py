"""Two hundred runs at once through one wrapped graph: is each answered right, and does the event loop stay quick?

    python benchmarks/crowd.py [--runs 200] [--limit 50] [--json OUT]

All runs are tasks of one event loop. Each has a user and a question of its own; its search takes 0.2 s and answers with
both. The model is scripted and writes 50 tokens a second. The same is measured with the bare graph.

- Every run must have its own answer, the numbers of the report must add up, and no more speculations may run at once
  than the process allows.
- The lag of the loop is how much later than asked a timer of 5 ms fires on it. Limit: at most 50 ms with the wrapped
  graph, on a quiet machine. What was imported is frozen (`gc.freeze`, as servers do), since a full collection of it
  alone takes longer; `--no-freeze` leaves it as it is.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool

from langgraph_prefetch import ExecutorLimits, Report, prefetcher_of, with_prefetch
from langgraph_prefetch.speculation.shared import process_wide
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn
from langgraph_prefetch.testing.script import turn_of

LIMIT_MS = 50.0
TICK_SECONDS = 0.005
ARRIVAL_SECONDS = 0.01
"""Runs do not begin in the same instant, but one after the other, so far apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """What a crowd of runs came to. ``most_running``: speculations that were seen to run at once."""

    answers: Sequence[str]
    wanted: Sequence[str]
    lags_ms: Sequence[float]
    seconds: float
    most_running: int
    report: Report | None

    @property
    def wrong(self) -> list[str]:
        """Answers that are not the run's own."""
        return [got for got, wanted in zip(self.answers, self.wanted, strict=True) if got != wanted]

    @property
    def does_not_add_up(self) -> bool:
        """True if a call or a speculation was lost, or something of ours failed."""
        report = self.report
        if report is None:
            return False
        fates = report.served_speculations + report.wasted + report.failed + report.cancelled
        calls = report.served + report.misses
        return (report.runs, calls, fates, report.unsettled, report.troubles) != (
            *(len(self.answers), report.search_calls, report.speculations),
            *(0, 0),
        )


def graph_of(*, seconds: float, seconds_per_token: float) -> Any:
    """An agent with an async search whose answer depends on who asks."""

    @tool
    async def search(query: str, config: RunnableConfig) -> str:
        """Search for passages."""
        await asyncio.sleep(seconds)
        return f"{query} as {config['configurable']['user']} may read it"

    def said(messages: Sequence[BaseMessage]) -> Turn:
        topic = str(messages[0].text)
        thought = f"I need to search {topic}, and then I will know enough to say more about all of it."
        return turn_of((Turn(text=thought, calls=[Call("search", {"query": topic})]), Turn(text="So it is.")), messages)

    return create_agent(ScriptedChatModel(script=said, seconds_per_token=seconds_per_token), [search])


async def crowd(graph: Any, runs: int, *, apart: float = ARRIVAL_SECONDS) -> Crowd:
    """``runs`` runs at once on the running loop, and its lag meanwhile. Two each ask the same, as different users."""
    executor = process_wide().executor
    lags: list[float] = []
    running: list[int] = [0]

    async def watch() -> None:
        while True:
            due = time.perf_counter() + TICK_SECONDS
            await asyncio.sleep(TICK_SECONDS)
            lags.append((time.perf_counter() - due) * 1_000)
            running.append(executor.running)

    async def one(number: int) -> str:
        await asyncio.sleep(number * apart)
        config = {"configurable": {"user": f"user {number}"}}
        result = await graph.ainvoke({"messages": [("user", f"Chapter {number // 2}")]}, config)
        return str(result["messages"][-2].content)

    watching = asyncio.create_task(watch())
    began = time.perf_counter()
    answers = await asyncio.gather(*(one(number) for number in range(runs)))
    seconds = time.perf_counter() - began
    watching.cancel()
    return Crowd(
        answers=answers,
        wanted=[f"Chapter {number // 2} as user {number} may read it" for number in range(runs)],
        lags_ms=lags,
        seconds=seconds,
        most_running=max(running),
        report=prefetcher_of(graph).report() if hasattr(graph, "prefetch") else None,
    )


def figures(name: str, each: Crowd) -> dict[str, Any]:
    """As printed and written."""
    ordered = sorted(each.lags_ms)
    return {
        "graph": name,
        "runs": len(each.answers),
        "seconds": round(each.seconds, 2),
        "wrong": len(each.wrong),
        "lag_median_ms": round(ordered[len(ordered) // 2], 2),
        "lag_p99_ms": round(ordered[int(len(ordered) * 0.99)], 2),
        "lag_max_ms": round(ordered[-1], 2),
        "most_running": each.most_running,
    }


def main() -> int:
    """Print a line for each graph and the verdict; write both as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--limit", type=float, default=LIMIT_MS, metavar="MS", help="of the loop's lag")
    parser.add_argument("--no-freeze", action="store_true", help="let full collections look at what was imported")
    arguments = parser.parse_args()
    bare = graph_of(seconds=0.2, seconds_per_token=0.02)
    wrapped = with_prefetch(graph_of(seconds=0.2, seconds_per_token=0.02), tools=["search"])
    asyncio.run(crowd(with_prefetch(graph_of(seconds=0, seconds_per_token=0), tools=["search"]), 5))
    rows = []
    crowds = {}
    for name, graph in (("bare", bare), ("wrapped", wrapped)):
        gc.collect()
        if not arguments.no_freeze:
            gc.freeze()
        crowds[name] = asyncio.run(crowd(graph, arguments.runs))
        rows.append(figures(name, crowds[name]))
        print("  ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
    all_right = not any(each.wrong or each.does_not_add_up for each in crowds.values())
    all_right &= crowds["wrapped"].most_running <= ExecutorLimits().max_running
    longest = rows[1]["lag_max_ms"]
    held = all_right and longest <= arguments.limit
    print(f"\n{crowds['wrapped'].report}\n\nanswers {'right' if all_right else 'WRONG'}; ", end="")
    print(f"longest lag {longest} ms, limit {arguments.limit:g} ms: {'held' if held else 'NOT HELD'}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"crowds": rows, "held": held}, indent=2) + "\n", encoding="utf-8")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
