"""Memory of an agent's process and of a worker over many messages: it must stay flat."""

from __future__ import annotations

import asyncio
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.aws.loading import Loaded, in_brackets, loading
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


@dataclass
class Tally:
    """Counts over all rounds; what they count is not kept, since it would be the memory that is measured."""

    sent: int = 0
    good: int = 0
    wrong: int = 0
    lost: int = 0
    refused: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, loaded: Loaded) -> None:
        """One more round."""
        good = right(loaded)
        self.sent += loaded.sent
        self.good += good
        self.wrong += len(loaded.answers) - good
        self.lost += loaded.lost
        self.refused += len(loaded.refused)
        self.reasons += loaded.reasons


def memory(settings: MemorySettings) -> Part:
    """Measure it."""
    tally, samples = Tally(), list[Sample]()
    with place() as at, working(at, settings.workers) as workers, loading(at.executor(), at.cache()) as load:
        pids = {"agent": "self"} | {f"worker {number + 1}": str(each.pid) for number, each in enumerate(workers)}
        for number in range(settings.rounds):
            count = settings.messages // settings.rounds
            loaded = asyncio.run(load.at_once(count, settings.under_way, f"round {number}"))
            tally.add(loaded)
            load.jobs.clear()
            samples.append(((number + 1) * count, {name: resident_kilobytes(pid) for name, pid in pids.items()}))
        left = sum(at.left())
    return _part(samples, tally, left)


def growth(samples: Sequence[Sample], name: str) -> float:
    """Kilobytes in a thousand messages: least squares through the samples after the warm-up."""
    kept = samples[round(len(samples) * WARM_UP) :]
    counts = [count / 1_000 for count, _ in kept]
    return statistics.linear_regression(counts, [sizes[name] for _, sizes in kept]).slope


def _part(samples: Sequence[Sample], tally: Tally, left: int) -> Part:
    last = samples[-1][1]
    first = samples[round(len(samples) * WARM_UP)][1]
    figures = [
        Figure(
            measure="messages answered rightly; wrongly, lost, left in a queue; not taken by the queue",
            limit="all; 0; printed",
            measured=f"{tally.good:,} of {tally.sent:,}; {tally.wrong}, {tally.lost}, {left}; {tally.refused}"
            + in_brackets(tally.reasons),
            held=tally.sent > 0 and not tally.wrong and not tally.lost and not left,
            timeless=True,
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
