"""This project's ingestion."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import islice
from tempfile import NamedTemporaryFile
from typing import Any

from langchain_core.documents import Document

from benchmarks.rivals.arm import Done, Job, Stopwatch, main
from benchmarks.rivals.passages import copy_store, rows_sql
from benchmarks.rivals.standin import DIMENSIONS, Service
from langgraph_prefetch.ingest import IngestReport, IngestSettings, ingest
from langgraph_prefetch.retrieval import PgVectorStore


def fullest(report: IngestReport) -> float:
    """The peak of the fullest queue, as a share of its bound; above one where a bound was broken."""
    return max(
        max(each.peak_items / each.max_items, min(each.peak_bytes / each.max_bytes, each.peak_items))
        for each in report.queues.values()
    )


def known(settings: Mapping[str, Any]) -> IngestSettings | None:
    """The run's own settings; None leaves the choice to it."""
    named = {name: value for name, value in settings.items() if name not in ("model_of", "documents")}
    return IngestSettings(**named) if named else None


def source_of(job: Job) -> Any:
    """The file, which is one source; or, as LangChain is given them, documents that are a source each."""
    if not job.settings.get("documents"):
        return str(job.corpus)
    return [Document(row["text"], metadata={"key": row["key"], "source": row["key"]}) for row in job.rows()]


async def everything(job: Job) -> Done:
    """The corpus, then the same corpus again."""
    service, store, settings = Service(job.delay), copy_store(job.url), known(job.settings)
    more: dict[str, Any] = {}
    small: IngestReport | None = None
    if share := job.settings.get("model_of"):
        small = await part_of(job, share, settings)
    how: dict[str, Any] = {"settings": settings, "embedder_identity": "stand-in"}
    watch = Stopwatch()
    report = await ingest(source_of(job), None, service.embed, store, **how)
    seconds = watch.seconds
    more |= {"chunks": report.passages, "requests": report.requests, "flying": service.most, "fullest": fullest(report)}
    more |= {"request_items": report.settings.request_items, "stages": dict(report.stage_seconds)}
    if small is not None:
        more["model_error"] = small.costs.error(report.passages, report.seconds, report.costs.loads)
    watch = Stopwatch()
    again = await ingest(source_of(job), None, service.embed, store, **how)
    if again.written.added or again.written.updated or again.embedded:
        raise RuntimeError(f"an unchanged corpus was written again: {again.written}")
    again_seconds = watch.seconds
    if job.settings.get("documents"):
        at_hand = source_of(job)
        watch = Stopwatch()
        await ingest(at_hand, None, service.embed, store, **how)
        more["again_at_hand"] = watch.seconds
    return Done(rows_sql=rows_sql(job.url), seconds=seconds, again=again_seconds, more=more)


async def part_of(job: Job, share: int, settings: IngestSettings | None) -> IngestReport:
    """The beginning of the corpus, into a collection of its own: its cost model is to foretell the whole.

    At least what the queues hold: of a shorter part, most is read and split while the first request is on its way, and
    hardly anything is left to tell how fast all stages are together.
    """
    used = settings or IngestSettings()
    lines = max(sum(1 for _ in job.rows()) // share, used.queued_batches * used.batch_rows)
    with NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as part:
        with job.corpus.open(encoding="utf-8") as whole:
            part.writelines(islice(whole, lines))
        part.flush()
        store = PgVectorStore(None, url=job.url, collection="part", dimensions=DIMENSIONS)
        embed = Service(job.delay).embed
        return await ingest(part.name, None, embed, store, settings=settings, embedder_identity="stand-in")


def by_ingest(job: Job) -> Done:
    """All of it."""
    copy_store(job.url)
    return asyncio.run(everything(job))


if __name__ == "__main__":
    main({"ours": by_ingest})
