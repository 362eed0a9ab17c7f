"""Memory of an agent's process and of a worker over many messages: it must stay flat."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.aws.loading import loading
from benchmarks.aws.place import place
from benchmarks.aws.processes import resident_kilobytes
from benchmarks.aws.tables import Figure, Part
from benchmarks.aws.throughput import right, working

WARM_UP = 0.2
LIMIT = 50.0
"""Kilobytes in a thousand messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings:
    """``messages`` in ``rounds``, a sample after each."""

    messages: int = 50_000
    rounds: int = 25
    under_way: int = 100
    workers: int = 2


Sample = tuple[int, dict[str, float]]


def memory(settings: MemorySettings) -> Part:
    """Measure it."""
    good, lost, why, samples = 0, 0, "", list[Sample]()
    with place() as at, working(at, settings.workers) as workers, loading(at.executor(), at.cache()) as load:
        pids = {"agent": "self"} | {f"worker {number + 1}": str(each.pid) for number, each in enumerate(workers)}
        for number in range(settings.rounds):
            count = settings.messages // settings.rounds
            loaded = asyncio.run(load.at_once(count, settings.under_way, f"round {number}"))
            good, lost, why = good + right(loaded), lost + loaded.lost, why + loaded.why
            load.jobs.clear()
            samples.append(((number + 1) * count, {name: resident_kilobytes(pid) for name, pid in pids.items()}))
        left = sum(at.left())
    return _part(samples, good, lost, why, left)


def growth(samples: Sequence[Sample], name: str) -> float:
    """Kilobytes in a thousand messages: least squares through the samples after the warm-up."""
    kept = samples[round(len(samples) * WARM_UP) :]
    counts = [count / 1_000 for count, _ in kept]
    return statistics.linear_regression(counts, [sizes[name] for _, sizes in kept]).slope


def _part(samples: Sequence[Sample], good: int, lost: int, why: str, left: int) -> Part:
    total, last = samples[-1]
    first = samples[round(len(samples) * WARM_UP)][1]
    figures = [
        Figure(
            measure="messages answered rightly; lost, left in a queue",
            limit="all; 0",
            measured=f"{good:,} of {total:,}{why}; {lost}, {left}",
            held=not lost and not left,
        )
    ]
    for name in last:
        slope = growth(samples, name)
        figures.append(
            Figure(
                measure=f"{name}: resident memory, per 1,000 messages, over the last 80 %",
                limit=f"below {LIMIT:g} KB",
                measured=f"{slope:.1f} KB ({first[name] / 1024:.1f} MB to {last[name] / 1024:.1f} MB)",
                held=slope < LIMIT,
            )
        )
    return Part(title="Memory", figures=figures, details=[{"messages": count, **sizes} for count, sizes in samples])


def short() -> MemorySettings:
    """For tests."""
    return MemorySettings(messages=200, rounds=5, under_way=20)
