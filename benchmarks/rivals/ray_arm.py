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


class Split:
    """Documents to passages."""

    def __init__(self) -> None:
        self._splitter = RecursiveCharacterTextSplitter()

    def __call__(self, rows: dict[str, Any]) -> dict[str, list[str]]:
        found = [
            (str(key), f"{key}/{place}", text)
            for key, whole in zip(rows["key"], rows["text"], strict=True)
            for place, text in enumerate(self._splitter.split_text(str(whole)))
        ]
        keys, ids, texts = (list(column) for column in zip(*found, strict=True))
        return {"key": keys, "id": ids, "text": texts}


class Embed:
    """One request a batch."""

    def __init__(self, delay: float) -> None:
        self._service = Service(delay)

    def __call__(self, rows: dict[str, Any]) -> dict[str, Any]:
        return {**rows, "embedding": self._service.embed([str(text) for text in rows["text"]])}


class Write:
    """One COPY a batch, over a connection that each worker keeps."""

    def __init__(self, url: str) -> None:
        self._writer = copy_store(url).writer().__enter__()

    def __call__(self, rows: dict[str, Any]) -> dict[str, list[int]]:
        names = [{"key": str(key), "id": str(id_), "text": str(text)} for key, id_, text in _zipped(rows)]
        self._writer.write(batch_of(names, rows["embedding"]))
        return {"written": [len(names)]}


def _zipped(rows: dict[str, Any]) -> Any:
    return zip(rows["key"], rows["id"], rows["text"], strict=True)


def by_copy(job: Job) -> Done:
    """All of it, on this machine's cores; the cluster's start is not counted."""
    copy_store(job.url)
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=STORE_BYTES, log_to_driver=False)
    rows, workers = job.settings["rows"], job.settings["workers"]
    share = {"num_cpus": 0.5 / workers, "batch_size": rows}
    watch = Stopwatch()
    written = (
        ray.data.read_json(str(job.corpus), lines=True)
        .map_batches(Split, concurrency=1, **share)
        .map_batches(Embed, fn_constructor_args=(job.delay,), concurrency=workers, **share)
        .map_batches(Write, fn_constructor_args=(job.url,), concurrency=workers, **share)
        .sum("written")
    )
    seconds = watch.seconds
    ray.shutdown()
    return Done(rows_sql=rows_sql(job.url), seconds=seconds, more={"chunks": written})


if __name__ == "__main__":
    main({"ray copy": by_copy})
