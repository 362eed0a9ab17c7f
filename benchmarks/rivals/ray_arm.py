"""Ray Data with our COPY writer. Measured once and recorded: it starts a cluster of its own, and takes its time."""

from __future__ import annotations

import os
from typing import Any

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

import ray
from langchain_text_splitters import RecursiveCharacterTextSplitter

from benchmarks.rivals.arm import Done, Job, Stopwatch, main
from benchmarks.rivals.passages import batch_of, copy_store, rows_sql
from benchmarks.rivals.standin import Service

STORE_BYTES = 400 * 2**20


def split(rows: dict[str, Any]) -> dict[str, list[str]]:
    """Documents to passages."""
    splitter = RecursiveCharacterTextSplitter()
    found = [
        (str(key), f"{key}/{place}", text)
        for key, whole in zip(rows["key"], rows["text"], strict=True)
        for place, text in enumerate(splitter.split_text(str(whole)))
    ]
    keys, ids, texts = (list(column) for column in zip(*found, strict=True))
    return {"key": keys, "id": ids, "text": texts}


def embed(rows: dict[str, Any], delay: float) -> dict[str, Any]:
    """One request a batch."""
    return {**rows, "embedding": Service(delay).embed([str(text) for text in rows["text"]])}


def write(rows: dict[str, Any], url: str) -> dict[str, list[int]]:
    """One COPY a batch, over connections that each worker process keeps."""
    columns = zip(rows["key"], rows["id"], rows["text"], strict=True)
    passages = [{"key": str(key), "id": str(id_), "text": str(text)} for key, id_, text in columns]
    with copy_store(url).writer() as writer:
        writer.write(batch_of(passages, rows["embedding"]))
    return {"written": [len(passages)]}


def get_ready(rows: dict[str, Any], url: str) -> dict[str, Any]:
    """What a worker process imports and opens at first use."""
    copy_store(url)
    batch_of([{"key": "", "id": "", "text": ""}], Service(0.0).embed([""]))
    return rows


def by_copy(job: Job) -> Done:
    """All of it, on this machine's cores; the start of the cluster and of its workers is not counted."""
    copy_store(job.url)
    rows, workers = job.settings["rows"], job.settings["workers"]
    ray.init(num_cpus=workers, include_dashboard=False, object_store_memory=STORE_BYTES, log_to_driver=False)
    ray.data.range(8 * workers, override_num_blocks=8 * workers).map_batches(get_ready, fn_args=(job.url,)).count()
    watch = Stopwatch()
    written = (
        ray.data.read_json(str(job.corpus), lines=True)
        .map_batches(split, batch_size=rows)
        .map_batches(embed, batch_size=rows, fn_args=(job.delay,))
        .map_batches(write, batch_size=rows, fn_args=(job.url,))
        .sum("written")
    )
    seconds = watch.seconds
    ray.shutdown()
    return Done(rows_sql=rows_sql(job.url), seconds=seconds, more={"chunks": written})


if __name__ == "__main__":
    main({"ray copy": by_copy})
