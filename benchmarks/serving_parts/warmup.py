"""Warm-up: the first request of an agent whose three components are cold, on real processes with a real start.

Cold starts that add up along an agent's steps, and starting them in parallel, are from a production study of compound
systems (arXiv 2604.25724). Two kinds of start, since they come to different sums:

- reading: each component draws its weights or its index from a storage whose link is slow, checks and opens them. That
  is what a cold start mostly is where models are loaded and services connected, and it leaves the processor free.
- computing: each imports its libraries, and one its vectors, and waits for nothing. Starts of this kind share the
  processors: they take at least their processor time together divided by the processors, however begun. They are
  begun both at once and in turn (`Warmer(computing=…)`, told the processor time that each took alone).

Nothing sleeps to seem cold but the storage's links.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import resource
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.serving_parts.children import ranges
from benchmarks.serving_parts.part import Check, Part, Table
from benchmarks.serving_parts.served import Served, client
from langgraph_prefetch.events import ComponentWarmed, Event
from langgraph_prefetch.serving.gateway import gateway
from langgraph_prefetch.serving.warmup import Warmer

ANSWER_SECONDS = 0.05
LINK = 5e5
"""Bytes a second of the link over which each component draws from storage."""
READ = """
import hashlib, urllib.request
url, size, digest = given
request = urllib.request.Request(url, headers={"Range": f"bytes=0-{int(size) - 1}"})
with urllib.request.urlopen(request) as blob:
    data = blob.read()
assert hashlib.sha256(data).hexdigest() == digest
"""
READING = {
    "embedder": (2_400_000, "import numpy\nnumpy.frombuffer(data, dtype='u1').reshape(-1, 100).sum(axis=1)\n"),
    "search": (1_600_000, "import sqlite3\nsqlite3.connect(':memory:').execute('create table blobs (data)')\n"),
    "grader": (1_200_000, "import json\njson.dumps(data.hex())\n"),
}
"""Bytes of each, and what opens them."""
COMPUTING = {
    "embedder": "from langgraph_prefetch.retrieval.embedders.wordllama import WordLlamaEmbeddings\n"
    "WordLlamaEmbeddings().embed_query('warm')\n",
    "search": "import sqlalchemy, psycopg\n",
    "grader": "import numpy, scipy.stats, langchain.agents, langgraph.graph\n",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What a component does before it serves."""

    code: str
    arguments: tuple[str, ...] = ()


def run(*, short: bool = False, seed: int = 1) -> Part:
    """Three rounds of each kind, two if ``short``; about three minutes. ``seed``: of the weights."""
    rounds = 2 if short else 3
    with _read_from_storage(seed) as reading:
        found = {
            "reading": [asyncio.run(_round(reading)) for _ in range(rounds)],
            "computing": [
                asyncio.run(_round({name: Start(code=code) for name, code in COMPUTING.items()}, computing=True))
                for _ in range(rounds)
            ],
        }
    cores = len(os.sched_getaffinity(0))
    checks = [_check(kind, each, cores) for kind, each in found.items()]
    return Part(
        name="warmup",
        tables=[_table(kind, each, cores) for kind, each in found.items()],
        checks=checks,
        figures={"cores": cores, **found},
    )


def _bound(round_: Mapping[str, Any], cores: int) -> float:
    """What no way of starting can beat: the slowest start, and the processor time of all of them, shared."""
    bound: float = max(*round_["cold"].values(), sum(round_["processor"].values()) / cores)
    return bound


def _table(kind: str, rounds: list[dict[str, Any]], cores: int) -> Table:
    slowest = median(max(each["cold"].values()) for each in rounds)
    rows = [
        (
            f"cold start of the {name}, alone",
            f"{median(each['cold'][name] for each in rounds):.2f} s",
            f"{median(each['processor'][name] for each in rounds):.2f} s",
            "",
        )
        for name in rounds[0]["cold"]
    ]
    ways = [("each started when called", "one by one"), ("all warmed when it came", "at once")]
    if "in turn" in rounds[0]:
        ways.append(("warmed when it came, the longest first", "in turn"))
    for what, key in ways:
        ratio = median(each[key] / max(each["cold"].values()) for each in rounds)
        rows.append((f"first request, {what}", f"{median(each[key] for each in rounds):.2f} s", "", f"{ratio:.2f}"))
    bound = median(_bound(each, cores) for each in rounds)
    rows.append((f"least that {cores} processors allow", f"{bound:.2f} s", "", f"{bound / slowest:.2f}"))
    return Table(
        caption=f"First request through three cold processes, whose start is {kind} (live)",
        head=("", "seconds", "of the processor", "/ slowest cold start"),
        rows=tuple(rows),
        note=f"Medians of {len(rounds)} rounds. Each component then takes {1_000 * ANSWER_SECONDS:.0f} ms. Published: "
        "cold starts that cascade are named as a problem and parallel warm-up as the answer; no ratio is given.",
    )


def _check(kind: str, rounds: list[dict[str, Any]], cores: int) -> Check:
    if kind == "reading":
        ratio = median(each["at once"] / max(each["cold"].values()) for each in rounds)
        told = f"{ratio:.2f} x the slowest cold start"
    else:
        ratio = median(each["in turn"] / _bound(each, cores) for each in rounds)
        at_once = median(each["at once"] / _bound(each, cores) for each in rounds)
        told = f"{ratio:.2f} x the least that {cores} processors allow (at once {at_once:.2f})"
    return Check(what=f"first request, starts that are {kind}", measured=told, wanted="<= 1.1 x", kept=ratio <= 1.1)


@contextmanager
def _read_from_storage(seed: int) -> Iterator[dict[str, Start]]:
    """Starts that read from storages of their own, each a process with a slow link."""
    draw, found = random.Random(seed), {}
    with ExitStack() as stack:
        for name, (size, opens) in READING.items():
            directory = stack.enter_context(tempfile.TemporaryDirectory())
            data = draw.randbytes(size)
            Path(directory, name).write_bytes(data)
            url = stack.enter_context(ranges("--directory", directory, "--rate", str(LINK)))
            arguments = (f"{url}/{name}", str(size), hashlib.sha256(data).hexdigest())
            found[name] = Start(code=READ + opens, arguments=arguments)
        yield found


async def _round(starts: Mapping[str, Start], *, computing: bool = False) -> dict[str, Any]:
    served = {
        name: Served(name, ANSWER_SECONDS, start=each.code, arguments=each.arguments) for name, each in starts.items()
    }
    cold: dict[str, float] = {}
    used: dict[str, float] = {}
    for name, each in served.items():
        before, began = _processor_seconds(), time.perf_counter()
        await asyncio.to_thread(each.process.warm)
        cold[name] = time.perf_counter() - began
        await asyncio.to_thread(each.process.cool)
        used[name] = _processor_seconds() - before
    found = {
        "cold": cold,
        "processor": used,
        "one by one": await _first_request(served, told=False),
        "at once": await _first_request(served, told=True),
    }
    if computing:
        found["in turn"] = await _first_request(served, told=True, computing=used)
    return found


def _processor_seconds() -> float:
    """Of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def _first_request(
    served: dict[str, Served], *, told: bool, computing: Mapping[str, float] | None = None
) -> float:
    """From a request's coming to its answer, through all components in turn."""
    warmed: list[ComponentWarmed] = []

    def sink(event: Event) -> None:
        if isinstance(event, ComponentWarmed):
            warmed.append(event)

    warmer = Warmer(
        {name: each.process for name, each in served.items()},
        needs={"request": list(served)},
        computing=computing,
        events=sink,
    )
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
