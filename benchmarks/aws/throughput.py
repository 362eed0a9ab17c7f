"""How many searches a second two worker processes answer, and what each of them costs every process."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from benchmarks.aws.loading import Loaded, in_brackets, loading
from benchmarks.aws.place import Place, place
from benchmarks.aws.processes import cpu_seconds, server_pid
from benchmarks.aws.tables import Figure, Part
from langgraph_prefetch.testing.local_workers import LocalWorker

WANTED = 500.0
KEPT_UP = 0.95
"""Of what was offered, until the last answer: the rest is the time that the last one takes."""
SERVERS = ("queue's server", "table's server")
CORES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ThroughputSettings:
    """``count`` searches as fast as they are answered, then each of ``rates`` for ``seconds`` while workers keep up."""

    workers: int = 2
    count: int = 4_000
    under_way: int = 200
    rates: Sequence[float] = (WANTED, 600.0, 700.0, 800.0)
    seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Measured:
    """One load, and the milliseconds of processor time that a search of it took each process."""

    loaded: Loaded
    each: Mapping[str, float]

    @property
    def workers(self) -> float:
        """Of all of them together."""
        return sum(value for name, value in self.each.items() if name.startswith("worker"))


def throughput(settings: ThroughputSettings) -> Part:
    """Measure it."""
    with place() as at, working(at, settings.workers) as workers, loading(at.executor(), at.cache()) as load:
        meter = _Meter(at, workers)
        meter.take(partial(load.at_once, 100, 20, "warm-up"))
        most = meter.take(partial(load.at_once, settings.count, settings.under_way, "most"))
        offered: list[Measured] = []
        for rate in settings.rates:
            count = round(rate * settings.seconds)
            offered.append(meter.take(partial(load.at_rate, count, rate, f"at {rate:g}")))
            if not _kept_up(offered[-1].loaded, rate):
                break
        left = sum(at.left())
    begun = sum(map(searches_begun, workers))
    return _part(settings, most, offered, left, begun, len(load.jobs))


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


def searches_begun(worker: LocalWorker) -> int:
    """By a worker that has stopped, as its last line says.

    Raises:
        LookupError: it did not say so.
    """
    for line in reversed(worker.lines):
        for told in line.removeprefix("stopped: ").split(", "):
            if told.startswith("started "):
                return round(float(told.removeprefix("started ")))
    raise LookupError("the worker did not say what it had done")


class _Meter:
    """Processor time of all processes, load by load."""

    def __init__(self, at: Place, workers: Sequence[LocalWorker]) -> None:
        self._pids: dict[str, int | str] = {"agent": "self"}
        self._pids |= {f"worker {number + 1}": worker.pid for number, worker in enumerate(workers)}
        self._pids |= zip(SERVERS, (server_pid(at.queues), server_pid(at.tables)), strict=True)

    def take(self, load: Callable[[], Coroutine[None, None, Loaded]]) -> Measured:
        before = {name: cpu_seconds(pid) for name, pid in self._pids.items()}
        loaded = asyncio.run(load())
        taken = {name: cpu_seconds(pid) - before[name] for name, pid in self._pids.items()}
        return Measured(loaded, {name: 1_000 * seconds / loaded.sent for name, seconds in taken.items()})


def _kept_up(loaded: Loaded, rate: float) -> bool:
    return loaded.rate >= KEPT_UP * rate and not loaded.lost and not loaded.refused


def _part(
    settings: ThroughputSettings, most: Measured, offered: Sequence[Measured], left: int, begun: int, sent: int
) -> Part:
    first, wanted = offered[0], settings.rates[0]
    kept = [rate for rate, each in zip(settings.rates, offered, strict=False) if _kept_up(each.loaded, rate)]
    figures = [
        Figure(
            measure=f"{most.loaded.sent:,} searches, {settings.under_way} under way: answered a second by "
            f"{settings.workers} workers",
            limit=f"{WANTED:g}",
            measured=f"{most.loaded.rate:.0f}; p50 {most.loaded.delay(0.5):.2f} s",
            held=most.loaded.rate >= WANTED,
        ),
        Figure(
            measure=f"{first.loaded.sent:,} searches offered at {wanted:g} a second: answered a second, until the last",
            limit=f"{WANTED:g}",
            measured=f"{first.loaded.rate:.0f}; p50 {first.loaded.delay(0.5):.2f} s, p99 "
            f"{first.loaded.delay(0.99):.2f} s",
            held=_kept_up(first.loaded, WANTED),
        ),
        Figure(
            measure=f"highest of {', '.join(f'{rate:g}' for rate in settings.rates)} a second that was answered as it "
            "came, without loss",
            limit=f"{WANTED:g}",
            measured=f"{max(kept):g}" if kept else f"none of {wanted:g}",
            held=bool(kept) and max(kept) >= WANTED,
        ),
        _none_lost([most.loaded, *(each.loaded for each in offered)], left),
        Figure(
            measure="searches that workers began more often than they were sent",
            limit="0",
            measured=f"{max(0, begun - sent)} of {begun:,}",
            held=begun <= sent,
            timeless=True,
        ),
        _budget(f"{settings.under_way} under way", most),
        _budget(f"{wanted:g} a second", first),
        Figure(
            measure=f"what {CORES} cores allow by that: all processes; without the two servers; a worker with a core "
            "of its own; the table's server with one",
            limit=f"{WANTED:g} a second",
            measured=", ".join(f"{rate:.0f}" for rate in _allowed(most)),
        ),
    ]
    details = {"most": dict(most.each), "offered": [dict(each.each) for each in offered]}
    return Part(title="Throughput", figures=figures, details={"milliseconds": details})


def _budget(load: str, measured: Measured) -> Figure:
    each = measured.each
    shares = [each["agent"], measured.workers, *(each[name] for name in SERVERS)]
    return Figure(
        measure=f"processor time a search, {load}: agent, all workers, queue's server, table's server; together",
        limit=f"{1_000 * CORES / WANTED:g} ms together",
        measured=f"{', '.join(f'{share:.2f}' for share in shares)}; {sum(shares):.2f} ms",
    )


def _allowed(measured: Measured) -> list[float]:
    """Searches a second: on all cores, on those without the servers, by one worker's core, by one table's."""
    each = measured.each
    ours = each["agent"] + measured.workers
    together = sum(each.values())
    alone = measured.workers, each["table's server"]
    return [1_000 * CORES / together, 1_000 * CORES / ours, *(1_000 / max(share, 1e-9) for share in alone)]


def _none_lost(loads: Sequence[Loaded], left: int) -> Figure:
    sent, lost = sum(each.sent for each in loads), sum(each.lost for each in loads)
    wrong = sum(len(each.answers) - right(each) for each in loads)
    refused, why = sum(len(each.refused) for each in loads), sum((each.reasons for each in loads), Counter[str]())
    return Figure(
        measure="lost, answered wrongly, left in a queue; not taken by the queue",
        limit="0; printed",
        measured=f"{lost} of {sent:,}, {wrong}, {left}; {refused}{in_brackets(why)}",
        held=not lost and not wrong and not left,
        timeless=True,
    )


def short() -> ThroughputSettings:
    """For tests."""
    return ThroughputSettings(count=60, under_way=20, rates=(20.0, 30.0), seconds=2.0)
