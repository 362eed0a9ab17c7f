"""Warm-up: the first request of an agent whose three components are cold, on real processes with a real start.

Cold starts that add up along an agent's steps, and starting them in parallel, are from a production study of compound
systems (arXiv 2604.25724). What starts here: an embedder that reads its weights, a service that imports a database's
client, and a grader that imports a framework; nothing sleeps to seem cold.
"""

from __future__ import annotations

import asyncio
import time
from statistics import median
from typing import Any

from benchmarks.serving_parts.part import Check, Part, Table
from benchmarks.serving_parts.served import CODE, Served, client
from langgraph_prefetch.events import ComponentWarmed, Event
from langgraph_prefetch.serving.gateway import gateway
from langgraph_prefetch.serving.warmup import Warmer

STARTS = {
    "embedder": "from langgraph_prefetch.retrieval.embedders.wordllama import WordLlamaEmbeddings\n"
    "WordLlamaEmbeddings().embed_query('warm')\n",
    "search": "import sqlalchemy, psycopg\n",
    "grader": "import numpy, scipy.stats, langchain.agents, langgraph.graph\n",
}
ANSWER_SECONDS = 0.05


def run(*, short: bool = False, seed: int = 1) -> Part:
    """Three rounds, two if ``short``; a minute or two. Nothing is drawn: ``seed`` is not used."""
    rounds = [asyncio.run(_round()) for _ in range(2 if short else 3)]
    cold = {name: median(each["cold"][name] for each in rounds) for name in STARTS}
    slowest = median(max(each["cold"].values()) for each in rounds)
    one_by_one = median(each["one by one"] for each in rounds)
    at_once = median(each["at once"] for each in rounds)
    ratio = median(each["at once"] / max(each["cold"].values()) for each in rounds)
    rows = (
        *((f"cold start of the {name}, alone", f"{seconds:.2f} s", "") for name, seconds in cold.items()),
        ("first request, each started when called", f"{one_by_one:.2f} s", f"{one_by_one / slowest:.2f}"),
        ("first request, all warmed when it came", f"{at_once:.2f} s", f"{ratio:.2f}"),
    )
    table = Table(
        caption="First request through three cold processes (live)",
        head=("", "seconds", "/ slowest cold start"),
        rows=rows,
        note=f"Medians of {len(rounds)} rounds. Each component then takes {1_000 * ANSWER_SECONDS:.0f} ms. Published: "
        "cold starts that cascade are named as a problem and parallel warm-up as the answer; no ratio is given.",
    )
    check = Check(
        what="first request", measured=f"{ratio:.2f} x the slowest cold start", wanted="<= 1.1 x", kept=ratio <= 1.1
    )
    return Part(name="warmup", tables=[table], checks=[check], figures={"rounds": rounds})


async def _round() -> dict[str, Any]:
    served = {name: Served(name, ANSWER_SECONDS, code=starts + CODE) for name, starts in STARTS.items()}
    cold: dict[str, float] = {}
    for name, each in served.items():
        began = time.perf_counter()
        await asyncio.to_thread(each.process.warm)
        cold[name] = time.perf_counter() - began
        await asyncio.to_thread(each.process.cool)
    return {
        "cold": cold,
        "one by one": await _first_request(served, told=False),
        "at once": await _first_request(served, told=True),
    }


async def _first_request(served: dict[str, Served], *, told: bool) -> float:
    """From a request's coming to its answer, through all components in turn."""
    warmed: list[ComponentWarmed] = []

    def sink(event: Event) -> None:
        if isinstance(event, ComponentWarmed):
            warmed.append(event)

    warmer = Warmer({name: each.process for name, each in served.items()}, needs={"request": list(served)}, events=sink)
    try:
        async with client() as http:
            steps = [gateway(each.asked_by(http), warm=warmer.of(name)) for name, each in served.items()]
            began = time.perf_counter()
            if told:
                warmer.need("request")
            for step in steps:
                await step.ainvoke("?")
            took = time.perf_counter() - began
    finally:
        await asyncio.to_thread(warmer.close)
    assert len(warmed) == len(served)
    return took
