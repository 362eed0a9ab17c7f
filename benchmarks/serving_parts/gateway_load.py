"""The gateway under load: one process generates it, one has the gateway, and others answer."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.serving_parts.children import child
from benchmarks.serving_parts.served import Served

OPEN_SECONDS = 2.0
RATE = 50.0
SETTLE_SECONDS = OPEN_SECONDS + 1.5
"""After a recovery, before what follows counts as healthy."""
_HERE = Path(__file__).parent
Request = tuple[float, float, str | None]


def p95(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))] if ordered else float("nan")


async def load(loop: str, url: str, **options: object) -> list[Request]:
    """What a generator of its own process made of it."""
    told = [each for name, value in options.items() for each in (f"--{name}", str(value))]
    generator = await asyncio.create_subprocess_exec(
        sys.executable, str(_HERE / "load_process.py"), loop, url, *told, stdout=asyncio.subprocess.PIPE
    )
    try:
        out, _ = await generator.communicate()
    finally:
        if generator.returncode is None:
            generator.kill()
    return [(due, took, answer) for due, took, answer in json.loads(out)]


async def outage(repeats: int, window: float, seed: int) -> dict[str, Any]:
    """50 requests a second without end, while a component's process is killed and started again, ``repeats`` times.

    A healthy window and one with the component down take turns; the start of the process and the settling after it are
    in neither. The p95 of each window is compared with that of its neighbour, and the median of these ratios told. The
    stand-in is as slow as what it stands for: a quicker one would hide what the way to it costs.
    """
    large, small = Served("large", 0.08), Served("small", 0.08)
    healthy: list[tuple[float, float]] = []
    down: list[tuple[float, float]] = []
    back: list[float] = []
    try:
        await asyncio.gather(*(asyncio.to_thread(each.process.warm) for each in (large, small)))
        with child("gate_process.py", large.url, "--fallback", small.url, "--open-seconds", str(OPEN_SECONDS)) as url:
            seconds = repeats * (2 * window + SETTLE_SECONDS + 3.0) + 3.0
            running = asyncio.ensure_future(load("open", f"{url}/gated", rate=RATE, seconds=seconds, seed=seed))
            await asyncio.sleep(3.0)  # the generator's own start
            for _ in range(repeats):
                begun = time.monotonic()
                await asyncio.sleep(window)
                killed = time.monotonic()
                assert large.process.pid is not None
                os.kill(large.process.pid, signal.SIGKILL)
                await asyncio.sleep(window)
                healthy.append((begun, killed))
                down.append((killed, time.monotonic()))
                await asyncio.to_thread(large.process.warm)
                back.append(time.monotonic())
                await asyncio.sleep(SETTLE_SECONDS)
            requests = await running
    finally:
        for each in (large, small):
            await asyncio.to_thread(each.process.cool)
    pairs = [(_within(requests, one), _within(requests, other)) for one, other in zip(healthy, down, strict=True)]
    out = [each for each in requests if any(killed <= each[0] < at for (killed, _), at in zip(down, back, strict=True))]
    recovered = [
        min((due + took for due, took, answer in requests if due > at and answer == str(large.port)), default=1e9) - at
        for at in back
    ]
    return {
        "requests": len(requests),
        "in_outage": len(out),
        "answered_share": sum(answer is not None for _, _, answer in out) / len(out),
        "degraded_in_outage": sum(answer == str(small.port) for _, _, answer in out),
        "healthy_p95": [p95(_seconds(one)) for one, _ in pairs],
        "outage_p95": [p95(_seconds(other)) for _, other in pairs],
        "ratio": median(p95(_seconds(other)) / p95(_seconds(one)) for one, other in pairs),
        "recovery_seconds": max(recovered),
    }


async def sessions(counts: tuple[int, ...], calls: int, service: float, rounds: int) -> list[dict[str, Any]]:
    """So many sessions beside each other, each of so many calls in turn: bare and through the gateway take turns.

    Calls a second are those between the first call and the last answer, medians of the rounds; and beside them what a
    call costs the process that makes it in processor time, which is what bounds it.
    """
    served = Served("step", service)
    found = []
    try:
        await asyncio.to_thread(served.process.warm)
        with child("gate_process.py", served.url) as url:
            await load("closed", f"{url}/gated", sessions=max(counts), calls=1)
            for count in counts:
                rates: dict[str, list[float]] = {"bare": [], "gated": []}
                used: dict[str, list[float]] = {"bare": [], "gated": []}
                for _ in range(rounds):
                    for name in rates:
                        before = await _used(url)
                        made = await load("closed", f"{url}/{name}", sessions=count, calls=calls)
                        used[name].append((await _used(url) - before) / len(made))
                        assert all(answer is not None for _, _, answer in made)
                        took = max(due + took for due, took, _ in made) - min(due for due, _, _ in made)
                        rates[name].append(len(made) / took)
                found.append(
                    {
                        "sessions": count,
                        **{name: median(each) for name, each in rates.items()},
                        **{f"{name}_processor_seconds_per_call": median(each) for name, each in used.items()},
                    }
                )
    finally:
        await asyncio.to_thread(served.process.cool)
    return found


async def _used(url: str) -> float:
    ((_, _, told),) = await load("closed", f"{url}/used", sessions=1, calls=1)
    return float(told or "nan")


def _within(requests: Sequence[Request], window: tuple[float, float]) -> list[Request]:
    return [each for each in requests if window[0] <= each[0] < window[1]]


def _seconds(requests: Sequence[Request]) -> list[float]:
    return [took for _, took, _ in requests]
