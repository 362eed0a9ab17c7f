"""A worker is killed (-9) every few seconds and a new one started: nothing is lost, and nothing answered twice."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.aws.echoing import LOG
from benchmarks.aws.loading import Loaded, loading
from benchmarks.aws.place import Place, place
from benchmarks.aws.tables import NOTHING, Figure, Part
from langgraph_prefetch.aws import DynamoDBCache
from langgraph_prefetch.jobs import HeldState
from langgraph_prefetch.testing.local_workers import LocalWorker

RETRIEVER = "benchmarks.aws.echoing:logged"


@dataclass(frozen=True, slots=True, kw_only=True)
class KillSettings:
    """``seconds`` of load; every ``every`` seconds a worker is started, and the oldest killed once it works."""

    workers: int = 2
    per_second: float = 30.0
    seconds: float = 90.0
    every: float = 10.0
    visibility_seconds: int = 3


def kills(settings: KillSettings) -> Part:
    """Measure it."""
    with tempfile.TemporaryDirectory() as folder, place(visibility_seconds=settings.visibility_seconds) as at:
        log = Path(folder) / "searches.txt"
        log.touch()
        pool = _Pool(at, settings, log)
        try:
            loaded, answers = asyncio.run(_run(at, settings, pool))
            left = at.left()
        finally:
            pool.close()
        lines = Counter(log.read_text(encoding="utf-8").splitlines())
    return _part(settings, loaded, answers, lines, pool.killed, left)


class _Pool:
    """The workers, of which one is killed at a time."""

    def __init__(self, at: Place, settings: KillSettings, log: Path) -> None:
        self._at, self._settings, self._log = at, settings, log
        self.killed = 0
        self._workers = [self._new() for _ in range(settings.workers)]
        for worker in self._workers:
            worker.ready()

    def replace(self) -> None:
        """Kill the oldest, in the middle of its searches; its place is taken by one that has just begun."""
        self._workers.append(self._new().ready())
        self._workers.pop(0).kill()
        self.killed += 1

    def close(self) -> None:
        for worker in self._workers:
            worker.stop()

    def _new(self) -> LocalWorker:
        options = ("--concurrency", "16", "--visibility-seconds", str(self._settings.visibility_seconds))
        return self._at.worker(RETRIEVER, *options, environment={LOG: str(self._log)})


async def _run(at: Place, settings: KillSettings, pool: _Pool) -> tuple[Loaded, dict[str, object]]:
    async def killing() -> None:
        began = asyncio.get_running_loop().time()
        for number in range(1, int(settings.seconds / settings.every) + 1):
            await asyncio.sleep(max(0.0, began + number * settings.every - asyncio.get_running_loop().time()))
            await asyncio.to_thread(pool.replace)

    cache = at.cache()
    with loading(at.executor(), cache) as load:
        task = asyncio.create_task(killing())
        loaded = await load.at_rate(round(settings.per_second * settings.seconds), settings.per_second, "kept")
        await task
        # Whoever still has a message of a search that another worker has ended is to find that out.
        await asyncio.sleep(2 * settings.visibility_seconds)
        return loaded, await asyncio.to_thread(_again, cache, load.jobs)


def _again(cache: DynamoDBCache, jobs: dict[str, str]) -> dict[str, object]:
    """Every result, read once more at the end."""
    names, found = list(jobs), dict[str, object]()
    for start in range(0, len(names), 50):
        look = cache.table.look(names[start : start + 50], 0.0)
        for id_, (held, item) in look.items():
            if item is not None and held.state is HeldState.READY:
                output = cache.table.with_output(id_, held, item).output
                found[jobs[id_]] = None if output is None else output.content
    return found


def _part(
    settings: KillSettings,
    loaded: Loaded,
    answers: dict[str, object],
    lines: Counter[str],
    killed: int,
    left: Sequence[int],
) -> Part:
    changed = sum(answers.get(query) != answer for query, answer in loaded.answers.items())
    searched = Counter(line.rpartition(" ")[0] for line in lines)
    again = sum(count - 1 for count in searched.values())
    unfound = sum(str(answer) not in lines for answer in loaded.answers.values())
    figures = [
        Figure(
            measure=f"workers killed in {settings.seconds:g} s",
            limit=f"one every {settings.every:g} s",
            measured=str(killed),
        ),
        Figure(
            measure=f"searches lost, not taken by the queue, of {loaded.sent:,}",
            limit="0, printed",
            measured=f"{loaded.lost}, {len(loaded.refused)}{loaded.why}",
            held=loaded.sent > 0 and not loaded.lost,
            timeless=True,
        ),
        Figure(
            measure="answered twice: results that are others at the end than when they came",
            limit="0",
            measured=str(changed) if loaded.answers else NOTHING,
            held=bool(loaded.answers) and changed == 0,
            timeless=True,
        ),
        Figure(
            measure="answers that no worker has found",
            limit="0",
            measured=str(unfound) if loaded.answers else NOTHING,
            held=bool(loaded.answers) and unfound == 0,
            timeless=True,
        ),
        Figure(
            measure="searches that ended twice (their worker was killed before it had handed them over)",
            limit="at most those that a killed worker held",
            measured=f"{again} of {loaded.sent:,}",
            held=again <= killed * 18,
        ),
        Figure(
            measure="messages left in the queue, in the dead-letter queue",
            limit="0",
            measured=", ".join(map(str, left)),
            held=not any(left),
            timeless=True,
        ),
        Figure(
            measure="from dispatch to answer, p50, p99, longest",
            limit="printed",
            measured=f"{loaded.delay(0.5):.2f}, {loaded.delay(0.99):.2f}, {max(loaded.delays):.2f} s"
            if loaded.delays
            else NOTHING,
        ),
    ]
    return Part(title="Workers killed", figures=figures)


def short() -> KillSettings:
    """For tests."""
    return KillSettings(per_second=10.0, seconds=8.0, every=4.0, visibility_seconds=2)
