"""Tokens handed on one by one, in large pieces, and in pieces that follow the load: simulated, and live on asyncio."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from random import Random
from statistics import mean

from benchmarks.serving_parts.part import Check, Part, Table
from langgraph_prefetch.serving.granularity import Grain, Granularity, chunks
from langgraph_prefetch.serving.simulator.streams import Streams, simulate_streams

LOADS = (0.3, 0.6, 0.8, 0.95)
GRAINS = {"single tokens": Grain(most=1), "64 at once": Grain(least=64, hold_seconds=9.0), "by load": Grain()}
LIVE = Streams(rate=1.0, tokens=60, token_seconds=0.04, piece_seconds=0.004, each_seconds=0.004)
LOST, LATER = 0.01, 0.02
LIVE_LOST, LIVE_LATER = 0.05, 0.005


def run(*, short: bool, seed: int) -> Part:
    """Both."""
    seconds = 60.0 if short else 240.0
    rows: list[tuple[str, ...]] = []
    figures: dict[tuple[float, str], tuple[float, float]] = {}
    for load in LOADS:
        for name, grain in GRAINS.items():
            streams = Streams(rate=load * Streams(rate=1.0).capacity(64))
            found = simulate_streams(streams, Granularity(grain), seconds=seconds, seed=seed)
            figures[load, name] = (found.throughput, found.first_seconds)
            rows.append(
                (
                    f"{load:.2f}",
                    name,
                    f"{found.offered:.0f}",
                    f"{found.throughput:.0f}",
                    f"{found.first_seconds * 1e3:.1f}",
                    f"{found.first_p95_seconds * 1e3:.1f}",
                    f"{found.mean_piece:.1f}",
                    f"{found.busy:.0%}",
                )
            )
    live_rows, live = played(8.0 if short else 20.0, seed)
    lost = 1 - figures[0.95, "by load"][0] / max(figures[0.95, name][0] for name in GRAINS)
    later = figures[0.3, "by load"][1] / figures[0.3, "single tokens"][1] - 1
    live_lost = 1 - live["0.95", "by load"][0] / live["0.95", "64 at once"][0]
    live_later = live["0.30", "by load"][1] - live["0.30", "single tokens"][1]
    return Part(
        name="granularity",
        tables=(
            Table(
                caption="Streams of 200 tokens to one stage, simulated; 1 is the load of the largest pieces",
                head=("load", "pieces", "tokens/s come", "done", "first token, ms", "p95", "mean piece", "busy"),
                rows=tuple(rows),
                note="A piece costs 1 ms and each of its tokens 1 ms. What comes and is not done waits when time is "
                "up.\nWe know of no published figure for this alone.",
            ),
            Table(
                caption="The same on asyncio: a piece costs 4 ms and each of its tokens 4 ms",
                head=("load", "pieces", "tokens/s done", "first token, ms"),
                rows=tuple(live_rows),
            ),
        ),
        checks=(
            Check(
                what="by load at 0.95, simulated: throughput lost against the best",
                measured=f"{lost:.2%}",
                wanted="none (1 %)",
                kept=lost <= LOST,
            ),
            Check(
                what="by load at 0.3, simulated: first token later than token by token",
                measured=f"{later:+.2%}",
                wanted="not (2 %)",
                kept=later <= LATER,
            ),
            Check(
                what="by load at 0.95, live: throughput lost against the largest pieces",
                measured=f"{live_lost:.2%}",
                wanted="none (5 %)",
                kept=live_lost <= LIVE_LOST,
            ),
            Check(
                what="by load at 0.3, live: first token later than token by token",
                measured=f"{live_later * 1e3:+.1f} ms",
                wanted="not (5 ms)",
                kept=live_later <= LIVE_LATER,
            ),
        ),
        figures={
            "simulated": {f"{load} {name}": pair for (load, name), pair in figures.items()},
            "live": {f"{load} {name}": pair for (load, name), pair in live.items()},
        },
    )


def played(seconds: float, seed: int) -> tuple[list[tuple[str, ...]], dict[tuple[str, str], tuple[float, float]]]:
    """Tokens a second, and seconds to the first, of each load and grain, live."""
    rows: list[tuple[str, ...]] = []
    figures: dict[tuple[str, str], tuple[float, float]] = {}
    for load in (0.3, 0.95):
        for name, grain in GRAINS.items():
            done, first = asyncio.run(live(load * LIVE.capacity(64), Granularity(grain), seconds, seed))
            figures[f"{load:.2f}", name] = (done, first)
            rows.append((f"{load:.2f}", name, f"{done:.0f}", f"{first * 1e3:.1f}"))
    return rows, figures


async def live(rate: float, granularity: Granularity, seconds: float, seed: int) -> tuple[float, float]:
    """Tokens a second that one stage is done with, and the mean time to the first of a stream."""
    random, stage, began = Random(f"live {seed}"), asyncio.Lock(), time.monotonic()
    busy = [0.0, began, 0.0]  # worked, looked at, worked by then
    done = [0]
    firsts: list[float] = []

    async def speak() -> AsyncGenerator[float, None]:
        start = time.monotonic()
        for number in range(LIVE.tokens):
            if (ahead := start + number * LIVE.token_seconds - time.monotonic()) > 0:
                await asyncio.sleep(ahead)
            yield time.monotonic()

    def load() -> float:
        now = time.monotonic()
        share = (busy[0] - busy[2]) / (now - busy[1]) if now > busy[1] else 1.0
        busy[1], busy[2] = now, busy[0]
        return share

    async def listen() -> None:
        first = True
        async for piece in chunks(speak(), granularity, load=load):
            async with stage:  # the stage's one replica
                took = time.monotonic()
                await asyncio.sleep(LIVE.piece_seconds + len(piece) * LIVE.each_seconds)
                busy[0] += time.monotonic() - took
                done[0] += len(piece)
            if first:
                firsts.append(time.monotonic() - piece[0])
            first = False

    tasks = []
    while time.monotonic() - began < seconds:
        await asyncio.sleep(random.expovariate(rate))
        tasks.append(asyncio.create_task(listen()))
    rate_done = done[0] / (time.monotonic() - began)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return rate_done, mean(firsts)
