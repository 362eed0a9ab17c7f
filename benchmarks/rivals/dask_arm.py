"""Dask: a bag of passages, split, embedded and written partition by partition, by row inserts or by our COPY writer."""

from __future__ import annotations

import json
from typing import Any

import dask
import dask.bag
import psycopg
from langchain_text_splitters import RecursiveCharacterTextSplitter
from pgvector.psycopg import register_vector

from benchmarks.rivals.arm import Done, Job, Stopwatch
from benchmarks.rivals.passages import batch_of, copy_store, rows_sql
from benchmarks.rivals.standin import DIMENSIONS, Service

TABLE = f"""
create extension if not exists vector;
create table passages (id text primary key, source text, text text, metadata jsonb, embedding vector({DIMENSIONS}));
"""
INSERT = """
insert into passages (id, source, text, metadata, embedding) values (%s, %s, %s, %s, %s)
on conflict (id) do update set text = excluded.text, metadata = excluded.metadata, embedding = excluded.embedding
"""


def split(row: dict[str, str]) -> list[dict[str, str]]:
    """The passages of a document."""
    pieces = RecursiveCharacterTextSplitter().split_text(row["text"])
    return [{"key": row["key"], "id": f"{row['key']}/{place}", "text": text} for place, text in enumerate(pieces)]


def embedded(passages: list[dict[str, str]], delay: float, rows: int | None) -> Any:
    """Their vectors, as many requests as the service's limit asks for."""
    service, size = Service(delay), rows or 1_000
    texts = [passage["text"] for passage in passages]
    return [vector for start in range(0, len(texts), size) for vector in service.embed(texts[start : start + size])]


def insert_rows(passages: Any, url: str, delay: float, rows: int | None) -> list[int]:
    """One partition: a request, then a statement of many rows."""
    passages = list(passages)
    vectors = embedded(passages, delay, rows)
    with psycopg.connect(url) as connection:
        register_vector(connection)
        with connection.cursor() as cursor:
            cursor.executemany(
                INSERT,
                [
                    (each["id"], each["key"], each["text"], json.dumps({"key": each["key"]}), vector)
                    for each, vector in zip(passages, vectors, strict=True)
                ],
            )
    return [len(passages)]


def copy_rows(passages: Any, url: str, delay: float, rows: int | None) -> list[int]:
    """One partition: a request, then one binary COPY by this project's writer."""
    passages = list(passages)
    with copy_store(url).writer() as writer:
        writer.write(batch_of(passages, embedded(passages, delay, rows)))
    return [len(passages)]


def run(job: Job, write: Any, sql: str) -> Done:
    """All of it; partitions and scheduler are Dask's own choice unless told."""
    rows, scheduler, workers = (job.settings.get(name) for name in ("rows", "scheduler", "workers"))
    _warm_up()
    watch = Stopwatch()
    bag = dask.bag.from_sequence(job.rows(), partition_size=rows)  # type: ignore[no-untyped-call]
    written = bag.map(split).flatten().map_partitions(write, job.url, job.delay, rows)
    told = {"scheduler": scheduler, "num_workers": workers}
    with dask.config.set(**{name: value for name, value in told.items() if value is not None}):
        counts = written.compute()
    return Done(rows_sql=sql, seconds=watch.seconds, more={"chunks": sum(counts), "partitions": bag.npartitions})


def _warm_up() -> None:
    """What is imported at first use, here pandas, does not count: it does not for any arm."""
    batch_of([{"key": "", "id": "", "text": ""}], Service(0.0).embed([""]))
    dask.bag.from_sequence([""]).map(len).compute(scheduler="threads")  # type: ignore[no-untyped-call]


def by_rows(job: Job) -> Done:
    """With one insert a row."""
    with psycopg.connect(job.url, autocommit=True) as connection:
        connection.execute(TABLE)
    return run(job, insert_rows, "select source, text, embedding from passages")


def by_copy(job: Job) -> Done:
    """With our writer."""
    copy_store(job.url)
    return run(job, copy_rows, rows_sql(job.url))


if __name__ == "__main__":
    from benchmarks.rivals.arm import main

    main({"dask rows": by_rows, "dask bag": by_rows, "dask copy": by_copy})
