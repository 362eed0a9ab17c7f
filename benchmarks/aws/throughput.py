"""How many searches a second two worker processes answer, and what each of them costs every process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from benchmarks.aws.loading import Loaded, loading
from benchmarks.aws.place import Place, place
from benchmarks.aws.processes import cpu_seconds, server_pid
from benchmarks.aws.tables import Figure, Part
from langgraph_prefetch.testing.local_workers import LocalWorker

WANTED = 500.0
SERVERS = ("queue's server", "table's server")


@dataclass(frozen=True, slots=True, kw_only=True)
class ThroughputSettings:
    """``count`` searches as fast as they are answered, then ``per_second`` for ``seconds``."""

    workers: int = 2
    count: int = 4_000
    under_way: int = 200
    per_second: float = WANTED
    seconds: float = 10.0


def throughput(settings: ThroughputSettings) -> Part:
    """Measure it."""
    with place() as at, working(at, settings.workers) as workers, loading(at.executor(), at.cache()) as load:
        asyncio.run(load.at_once(100, 20, "warm-up"))
        pids: dict[str, int | str] = {
            "agent": "self",
            "queue's server": server_pid(at.queues),
            "table's server": server_pid(at.tables),
        }
        pids |= {f"worker {number + 1}": worker.pid for number, worker in enumerate(workers)}
        before = {name: cpu_seconds(pid) for name, pid in pids.items()}
        most = asyncio.run(load.at_once(settings.count, settings.under_way, "most"))
        taken = {name: cpu_seconds(pid) - before[name] for name, pid in pids.items()}
        count = round(settings.per_second * settings.seconds)
        offered = asyncio.run(load.at_rate(count, settings.per_second, "offered"))
        left = sum(at.left())
    return _part(settings, most, offered, taken, left)


@contextmanager
def working(at: Place, count: int, retriever: str = "benchmarks.aws.echoing:echo") -> Iterator[list[LocalWorker]]:
    """So many workers that have little to search."""
    workers = [at.worker(retriever, "--concurrency", "16", "--prefetch", "16") for _ in range(count)]
    try:
        yield [worker.ready() for worker in workers]
    finally:
        for worker in workers:
            worker.stop()


def right(loaded: Loaded) -> int:
    """Answers that are those of their own search."""
    return sum(answer == f"passages about {query}" for query, answer in loaded.answers.items())


def _part(settings: ThroughputSettings, most: Loaded, offered: Loaded, taken: dict[str, float], left: int) -> Part:
    each = {name: 1_000 * seconds / most.sent for name, seconds in taken.items()}
    ours = sum(value for name, value in each.items() if name not in SERVERS)
    slowest = max(value for name, value in each.items() if name.startswith("worker"))
    busiest = max(each.values())
    wanted = settings.per_second
    figures = [
        Figure(
            measure=f"{most.sent:,} searches, {settings.under_way} under way: answered a second by "
            f"{settings.workers} workers",
            limit=f"{WANTED:g}",
            measured=f"{most.rate:.0f}; p50 {most.delay(0.5):.2f} s",
            held=most.rate >= WANTED,
        ),
        Figure(
            measure=f"{offered.sent:,} searches offered at {wanted:g} a second: answered a second, until the last",
            limit=f"{WANTED:g}",
            measured=f"{offered.rate:.0f}; p50 {offered.delay(0.5):.2f} s, p99 {offered.delay(0.99):.2f} s",
            held=offered.rate >= 0.95 * wanted,
        ),
        _none_lost(most, offered, left),
        Figure(
            measure="processor time a search: agent, both workers, queue's server, table's server",
            limit="printed",
            measured=f"{each['agent']:.2f}, {ours - each['agent']:.2f}, "
            + ", ".join(f"{each[name]:.2f} ms" for name in SERVERS),
        ),
        Figure(
            measure="searches a second if every process had a core of its own (the busiest process decides)",
            limit=f"{WANTED:g}",
            measured=f"{1_000 / busiest:.0f}; workers alone {1_000 / slowest:.0f}",
        ),
        Figure(
            measure="searches a second that two cores allow, whatever else (all processes together)",
            limit="printed",
            measured=f"{2 * 1_000 / sum(each.values()):.0f}; {2 * 1_000 / ours:.0f} without the two servers",
        ),
    ]
    return Part(title="Throughput", figures=figures, details={"milliseconds": each})


def _none_lost(most: Loaded, offered: Loaded, left: int) -> Figure:
    wrong = sum(len(each.answers) - right(each) for each in (most, offered))
    lost, refused = most.lost + offered.lost, len(most.refused) + len(offered.refused)
    return Figure(
        measure="lost, answered wrongly, left in a queue; not taken by the queue",
        limit="0; printed",
        measured=f"{lost} of {most.sent + offered.sent:,}, {wrong}, {left}; {refused}{most.why}{offered.why}",
        held=not lost and not wrong and not left,
        timeless=True,
    )


def short() -> ThroughputSettings:
    """For tests."""
    return ThroughputSettings(count=60, under_way=20, per_second=20.0, seconds=2.0)
