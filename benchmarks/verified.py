"""What ``serve="verified"`` hides where the guessed results are right, and what it costs where they are wrong.

    python benchmarks/verified.py [--runs 5] [--searches 3] [--json OUT]

An agent searches the same again and again, on the real clock: 0.3 s a search, 0.5 s to a model's first token, 50 tokens
a second. Nothing is searched early, so that every search is waited for: what is hidden is hidden by the next model call
alone. Arms: the bare agent; *exact*, the same prefetcher under ``serve="exact"``; *equal*, whose searches return what
they returned before; *different*, whose searches never do; and *gated*, the same under the default rules, which stop
when too many were wrong. The arms take turns in each round and are compared with the bare run of that round; what is
printed are medians over the rounds. Promised: equal hides at least 90 % of the search time that could be guessed, and
different is at most 2 % slower than bare.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import statistics
import time
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import StructuredTool

from langgraph_prefetch import Budgets, NextCalls, Prefetcher, PrefetchMiddleware, Report
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn

SEARCH_SECONDS, FIRST_TOKEN_SECONDS, TOKEN_SECONDS = 0.3, 0.5, 0.02
ARMS = ("bare", "exact", "equal", "different", "gated")
LEAST_HIDDEN, MOST_SLOWER = 0.90, 0.02
QUESTION: Any = {"messages": [("user", "How long is the Humber Bridge?")]}
THOUGHT = "Let me look that up once more to be sure. "
ANSWER = "It is 1,410 metres long, says the passage."


def search_tool(*, same: bool) -> StructuredTool:
    """A search over the network, which returns the same each time or never."""
    numbers = itertools.count(1)

    def answer() -> str:
        return "The Humber Bridge is 1,410 m long." if same else f"Passage {next(numbers)} of very many."

    def search(query: str) -> str:
        time.sleep(SEARCH_SECONDS)
        return answer()

    async def asearch(query: str) -> str:
        await asyncio.sleep(SEARCH_SECONDS)
        return answer()

    return StructuredTool.from_function(search, asearch, name="search", description="Search the web.")


def agent(arm: str, searches: int) -> tuple[Any, Prefetcher | None]:
    """The agent of one arm, and its prefetcher."""
    turn = Turn(reasoning=THOUGHT, calls=[Call("search", {"query": "Humber Bridge length"})])
    model = ScriptedChatModel(
        script=[turn] * (searches + 1) + [Turn(text=ANSWER)],
        seconds_to_first_token=FIRST_TOKEN_SECONDS,
        seconds_per_token=TOKEN_SECONDS,
    )
    tool = search_tool(same=arm == "equal")
    if arm == "bare":
        return create_agent(model, [tool]), None
    options: dict[str, Any] = {"budgets": Budgets(guesses_per_step=0, sealed_per_step=0)}
    if arm != "exact":
        rules = NextCalls() if arm == "gated" else NextCalls(max_wasted_share=1.0)
        options.update(serve="verified", next_calls=rules)
    ours = PrefetchMiddleware(["search"], **options)
    return create_agent(model, [tool], middleware=[ours]), ours.prefetch


def run_once(arm: str, mode: str, searches: int) -> tuple[float, Report | None]:
    """Seconds of one run, streamed as a user would read it; and what was done."""
    graph, prefetch = agent(arm, searches)

    async def read() -> None:
        async for _ in graph.astream(QUESTION, stream_mode="messages"):
            pass

    began = time.perf_counter()
    if mode == "async":
        asyncio.run(read())
    else:
        for _ in graph.stream(QUESTION, stream_mode="messages"):
            pass
    took = time.perf_counter() - began
    while prefetch is not None and prefetch.report().next_calls_unsettled:
        time.sleep(0.01)
    return took, prefetch.report() if prefetch is not None else None


def measure(runs: int, searches: int) -> list[dict[str, Any]]:
    """One row for each arm and mode."""
    rows: list[dict[str, Any]] = []
    for mode in ("sync", "async"):
        times: dict[str, list[float]] = {arm: [] for arm in ARMS}
        reports: dict[str, list[Report]] = {arm: [] for arm in ARMS}
        for number in range(runs):
            for place in range(len(ARMS)):
                arm = ARMS[(number + place) % len(ARMS)]
                took, report = run_once(arm, mode, searches)
                times[arm].append(took)
                reports[arm].extend([report] if report is not None else [])
        rows.extend(row(mode, arm, times[arm], reports[arm], times["bare"], searches) for arm in ARMS)
    return rows


def row(
    mode: str, arm: str, times: list[float], reports: list[Report], bare: list[float], searches: int
) -> dict[str, Any]:
    """The figures of one arm: tokens and calls per run."""
    guessable = searches * SEARCH_SECONDS
    pairs = list(zip(times, bare, strict=True))

    def mean(name: str) -> float:
        return statistics.mean(getattr(report, name) for report in reports) if reports else 0.0

    return {
        "mode": mode,
        "arm": arm,
        "seconds": round(statistics.median(times), 4),
        "hidden_share": round(statistics.median(without - took for took, without in pairs) / guessable, 4),
        "slower": round(statistics.median(took / without - 1 for took, without in pairs), 4),
        "next_calls": mean("next_calls"),
        "adopted": mean("next_calls_adopted"),
        "cancelled": mean("next_calls_cancelled"),
        "wasted_input_tokens": mean("wasted_input_tokens"),
        "wasted_output_tokens": mean("wasted_output_tokens"),
    }


def verdict(each: dict[str, Any]) -> str:
    """Whether the row keeps what is promised of its arm."""
    if each["arm"] == "equal":
        return "kept" if each["hidden_share"] >= LEAST_HIDDEN else "MISSED"
    if each["arm"] in ("exact", "different", "gated"):
        return "kept" if each["slower"] <= MOST_SLOWER else "MISSED"
    return ""


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="rounds for each arm and mode")
    parser.add_argument("--searches", type=int, default=3, help="searches of a run whose result can be guessed")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures there")
    given = parser.parse_args()
    rows = measure(given.runs, given.searches)
    print(f"{given.runs} rounds, {given.searches} searches of {SEARCH_SECONDS} s that can be guessed in each run")
    print("mode   arm         seconds   hidden   slower  adopted cancelled tokens wasted")
    for each in rows:
        wasted = f"{each['wasted_input_tokens']:.0f} read, {each['wasted_output_tokens']:.0f} written"
        print(
            f"{each['mode']:6} {each['arm']:10} {each['seconds']:8.3f} {each['hidden_share']:8.1%} "
            f"{each['slower']:8.1%} {each['adopted']:8.1f} {each['cancelled']:9.1f} {wasted:26} {verdict(each)}"
        )
    if given.json:
        given.json.write_text(json.dumps({"runs": given.runs, "searches": given.searches, "rows": rows}, indent=2))


if __name__ == "__main__":
    main()
