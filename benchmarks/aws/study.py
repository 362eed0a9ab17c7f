"""The study's run with worker processes: 120 runs in four batches, and bare, wrapped and missed runs in pairs."""

from __future__ import annotations

import dataclasses
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.aws.place import ROOT, Place, place
from benchmarks.aws.searching import DATABASE, LATENCY, study_script, study_tool
from benchmarks.aws.study_batch import BARE, MISSED, SERIES, WRAPPED, Plan, Reads
from benchmarks.aws.tables import NOTHING, Figure, Part
from langgraph_prefetch.demo.server import postgres
from langgraph_prefetch.evaluation.rows import RunRow
from langgraph_prefetch.evaluation.trials import Trial, paired_trials, read_rows, series_trials
from langgraph_prefetch.suites import published
from langgraph_prefetch.suites.ends import sum_of_waits
from langgraph_prefetch.suites.hits import hit, rate, ready_hit, searched, strict_hit
from langgraph_prefetch.suites.pairing import pairs, searches

SEED = 120
READ_SECONDS, MISS_SHARE = 0.005, 0.05
QUIET_READS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySettings:
    """Sizes; those of the suite ``study`` unless a test wants less."""

    batches: int = 4
    workers: int = 2
    per_kind: int | None = None
    latency_seconds: float = 0.67
    tokens_per_second: float = 42.0
    concurrency: int = 3
    worker_concurrency: int = 8


def study(settings: StudySettings) -> Part:
    """Run it."""
    with tempfile.TemporaryDirectory() as kept, postgres() as server, place() as at:
        os.environ[DATABASE], os.environ[LATENCY] = server.url, str(settings.latency_seconds)
        study_tool(study_script(), 0.0, fill=True)
        options = ("--namespace", "default", "--concurrency", str(settings.worker_concurrency))
        workers = [at.worker("benchmarks.aws.searching:study", *options) for _ in range(settings.workers)]
        try:
            for worker in workers:
                worker.ready()
            rows, reads = _runs(settings, at, Path(kept))
            quiet = _quiet_reads(at)
        finally:
            for worker in workers:
                worker.stop()
    return _part(rows, reads, quiet, settings)


def _runs(settings: StudySettings, at: Place, folder: Path) -> tuple[list[RunRow], list[float]]:
    script = study_script(settings.per_kind)
    names = [question.id for question in script.questions]
    first = [name for name in names if name.startswith(names[0].partition("-")[0])]
    series = series_trials(first, SERIES, batches=settings.batches, seed=SEED)
    processes = [[trial for trial in series if trial.batch == batch] for batch in range(settings.batches)]
    processes.append(list(paired_trials(names, (BARE, WRAPPED, MISSED), seed=SEED)))
    idle, _ = at.queues.make_queue()
    run_id, rows, reads = uuid.uuid4().hex, list[RunRow](), list[float]()
    for number, trials in enumerate(processes):
        plan = Plan(
            queue=at.queue,
            idle_queue=idle,
            table=at.table,
            run_id=run_id,
            per_kind=settings.per_kind,
            latency_seconds=settings.latency_seconds,
            tokens_per_second=settings.tokens_per_second,
            trials=_in_order(trials),
            concurrency=settings.concurrency,
            rows=folder / f"rows{number}.jsonl",
            reads=folder / f"reads{number}.json",
        )
        plan.write(folder / f"plan{number}.json")
        command = [sys.executable, "-m", "benchmarks.aws.study_batch", str(folder / f"plan{number}.json")]
        subprocess.run(command, cwd=ROOT, env={**os.environ, **at.environment()}, check=True)
        rows += read_rows(plan.rows)
        reads += json.loads(plan.reads.read_text(encoding="utf-8"))
        print(f"study: {len(rows)} runs", file=sys.stderr, flush=True)
    return rows, reads


def _in_order(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    return tuple(dataclasses.replace(trial, place=place) for place, trial in enumerate(trials))


def _quiet_reads(at: Place) -> list[float]:
    """Of one result each, when nothing else is asked of the table."""
    cache = at.cache(namespace="default")
    client = cache.connection.client
    found = client.scan(
        TableName=at.table, Limit=50, FilterExpression="attribute_exists(body)", ProjectionExpression="pk"
    )
    reads = Reads(client)
    for number in range(QUIET_READS if found["Items"] else 0):
        key = found["Items"][number % len(found["Items"])]
        client.batch_get_item(RequestItems={at.table: {"Keys": [key], "ConsistentRead": True}})
        time.sleep(0.005)
    cache.close()
    return reads.seconds


def _part(rows: list[RunRow], reads: list[float], quiet: list[float], settings: StudySettings) -> Part:
    series = [row for row in rows if row.arm == SERIES]
    warm = [row for row in series if row.warm]
    failed = [row for row in rows if row.error is not None]
    made = searches(rows)
    wrong = sum(each.as_real is not True for each in made)
    bare, wrapped = pairs(rows, BARE, WRAPPED).of()
    share = _change(bare, wrapped)
    missed = pairs(searched(rows), BARE, MISSED)
    lost = [row for row in missed.second if not hit(row)]
    before, after = missed.of()
    miss = _change(before, after)
    waits = [sum_of_waits(row) for row in rows if row.arm == BARE]
    figures = [
        Figure(
            measure="runs of the series, batches, worker processes",
            limit="120, 4, more than one",
            measured=f"{len(series)}, {settings.batches}, {settings.workers}; without an answer: {len(failed)}",
            held=bool(series) and not failed,
            timeless=True,
        ),
        Figure(
            measure="warm hit rate, the study's definition (each batch in its own process, results from the table)",
            limit="100 % (published: 100 %)",
            measured=rate(warm, hit),
            held=bool(searched(warm)) and all(map(hit, searched(warm))),
        ),
        Figure(
            measure="of these with the real query's passages",
            limit="all",
            measured=rate(warm, strict_hit),
            held=bool(searched(warm)) and all(map(strict_hit, searched(warm))),
        ),
        Figure(measure="of these ready when the call came", limit="printed", measured=rate(warm, ready_hit)),
        Figure(
            measure="cold hit rate, first batch",
            limit="printed (published: 29 of 30)",
            measured=rate([row for row in series if not row.warm], hit),
        ),
        Figure(
            measure="wrong answers: passages that are not the real query's",
            limit="0",
            measured=f"{wrong} of {len(made)} searches" if made else NOTHING,
            held=bool(made) and wrong == 0,
            timeless=True,
        ),
        _reads("table read during the runs", reads),
        _reads("table read, nothing else under way", quiet),
        Figure(
            measure="bare run, and its searches",
            limit="about 6.25 s, a tenth (published)",
            measured=_share_of(bare, waits),
        ),
        Figure(
            measure=f"end to end, cold, wrapped against bare, {len(bare)} pairs",
            limit="at least 10.7 % below",
            measured=_percent(share),
            held=share is not None and share <= published.END_TO_END_SHARE,
        ),
        Figure(measure="the same, of questions that search", limit="printed", measured=_of_searching(rows)),
        Figure(
            measure=f"a miss against bare ({len(lost)} of {len(missed.second)} runs, on a queue that nobody reads)",
            limit="at most 5 % slower",
            measured=_percent(miss),
            held=miss is not None and miss <= MISS_SHARE,
        ),
    ]
    return Part(title="The study's run", figures=figures, details=[dataclasses.asdict(row) for row in rows])


def _reads(measure: str, seconds: list[float]) -> Figure:
    middles = (statistics.fmean(seconds), statistics.median(seconds)) if seconds else ()
    return Figure(
        measure=f"{measure}, mean and p50 of {len(seconds)}",
        limit="5 ms (published on AWS: 3.49 ms mean)",
        measured=" and ".join(f"{each * 1_000:.2f}" for each in middles) + " ms" if middles else NOTHING,
        held=bool(middles) and max(middles) <= READ_SECONDS,
    )


def _change(before: list[float], after: list[float]) -> float | None:
    """Of the mean, as a share; None of nothing."""
    return statistics.fmean(after) / statistics.fmean(before) - 1 if before and after else None


def _percent(share: float | None) -> str:
    return NOTHING if share is None else f"{share:+.1%}"


def _share_of(bare: list[float], waits: list[float]) -> str:
    if not bare or not waits:
        return NOTHING
    return f"{statistics.fmean(bare):.2f} s, {statistics.fmean(waits) / statistics.fmean(bare):.1%}"


def _of_searching(rows: list[RunRow]) -> str:
    bare, wrapped = pairs(searched(rows), BARE, WRAPPED).of()
    return f"{_percent(_change(bare, wrapped))} of {len(bare)} pairs"


def short() -> StudySettings:
    """For tests: everything once, figures that mean nothing."""
    return StudySettings(batches=2, per_kind=1, latency_seconds=0.05, tokens_per_second=1_500.0)
