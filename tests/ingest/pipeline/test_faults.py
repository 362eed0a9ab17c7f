"""What is broken is left out and named, or stops the run with one clear error; nothing is half written or left over."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from langchain_core.documents import Document

from langgraph_prefetch.errors import IngestError
from langgraph_prefetch.ingest import IngestSettings, ingest
from langgraph_prefetch.ingest.splitting import PIECES
from langgraph_prefetch.testing.passages import MemoryPassages
from tests.ingest.pipeline.corpus import by_line, documents, embed, rows_of, store, texts_of

ONE_BY_ONE = IngestSettings(request_items=1, in_flight=2, attempts=2, retry_seconds=0.001, request_seconds=5)


def broken_for(bad: str, answer: Callable[[Any], Any]) -> Callable[[Sequence[str]], Any]:
    """An embedder that gives something else for requests with a certain text."""

    def embedder(texts: Sequence[str]) -> Any:
        return answer(embed(texts)) if bad in texts else embed(texts)

    return embedder


def _raise(_: Any) -> Any:
    raise ConnectionError("key sk-secret is wrong")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda vectors: vectors[:0], "0 vectors for 1 texts"),
        (lambda vectors: np.hstack([vectors, vectors]), "vectors of length 8, and the store's have 4"),
        (lambda vectors: vectors * np.nan, "not finite"),
        (lambda vectors: vectors * np.inf, "not finite"),
        (lambda vectors: vectors * 0, "no direction under cosine"),
        (lambda vectors: vectors[0], "an array of 1 dimensions"),
        (lambda vectors: [["one"]], "of something else than numbers"),
        (lambda vectors: None, "an array of 1 dimensions for 1 texts"),
        (_raise, "embedding failed: ConnectionError"),
    ],
)
async def test_a_request_that_fails_costs_only_its_passages(answer: Any, reason: str) -> None:
    """They are listed with the reason, and their document is tried again by the next run; the rest is written."""
    passages = store()
    report = await ingest(documents(4), by_line, broken_for("a 2.1", answer), passages, settings=ONE_BY_ONE)
    assert len(passages.rows) == 11
    assert "a 2.1" not in texts_of(passages)
    assert report.skipped_count == 1
    assert report.skipped[0].where == "2.md"
    assert reason in report.skipped[0].reason
    assert "secret" not in str(report)
    assert passages.remembered.keys() == {"0.md", "1.md", "3.md"}
    report = await ingest(documents(4), by_line, embed, passages, embedder_identity=None)
    whole = store()
    await ingest(documents(4), by_line, embed, whole)
    assert rows_of(passages) == rows_of(whole)


async def test_a_request_is_tried_again() -> None:
    """Once it succeeds nothing was lost."""
    failures = iter([True, False, True])
    passages = store()

    async def flaky(texts: Sequence[str]) -> Any:
        if next(failures, False):
            raise ConnectionError
        return embed(texts)

    report = await ingest(documents(2), by_line, flaky, passages, settings=ONE_BY_ONE)
    assert (len(passages.rows), report.skipped_count) == (6, 0)


async def test_a_request_that_does_not_end_is_given_up() -> None:
    """And says which setting decides how long is too long."""
    passages = store()

    async def hanging(texts: Sequence[str]) -> Any:
        if "a 0.0" in texts:
            await asyncio.Event().wait()
        return embed(texts)

    settings = IngestSettings(request_items=1, attempts=1, request_seconds=0.01)
    report = await ingest(documents(2), by_line, hanging, passages, settings=settings)
    assert len(passages.rows) == 5
    assert "request_seconds" in report.skipped[0].reason


async def test_an_embedder_for_another_store_stops_the_run_at_once() -> None:
    """With both dimensions, before anything is written."""
    passages = MemoryPassages(dimensions=9)
    with pytest.raises(IngestError, match="vectors of length 4, and the store's have 9"):
        await ingest(documents(3), by_line, embed, passages)
    assert passages.rows == {}


@pytest.mark.parametrize("count", [1, 40])
async def test_an_embedder_that_always_fails_stops_the_run(count: int) -> None:
    """After a few requests, not after all of them; what it said is in the cause."""
    asked = 0

    async def failing(texts: Sequence[str]) -> Any:
        nonlocal asked
        asked += 1
        _raise(texts)

    settings = IngestSettings(request_items=1, in_flight=1, attempts=1, failures_in_a_row=5)
    with pytest.raises(IngestError, match=r"embed: .*failed.*ConnectionError") as caught:
        await ingest(documents(count, lines=1), by_line, failing, store(), settings=settings)
    assert asked == min(count, 5)
    assert "secret" not in str(caught.value)
    assert isinstance(caught.value.__cause__, ConnectionError)


async def test_failures_with_successes_between_them_stop_nothing() -> None:
    """However many there are in all."""

    async def every_other(texts: Sequence[str]) -> Any:
        return _raise(texts) if int(texts[0].split()[1].split(".")[0]) % 2 else embed(texts)

    settings = IngestSettings(request_items=1, in_flight=1, attempts=1, failures_in_a_row=2)
    report = await ingest(documents(12, lines=1), by_line, every_other, store(), settings=settings)
    assert (report.written.added, report.skipped_count) == (6, 6)


async def test_a_document_that_cannot_be_split_costs_no_other() -> None:
    """It is named, and stays as it was."""

    def refusing(text: str) -> list[str]:
        if "a 1" in text:
            raise ValueError("secret text")
        return by_line(text)

    passages = store()
    report = await ingest(documents(3), refusing, embed, passages)
    assert len(passages.rows) == 6
    assert [str(each) for each in report.skipped] == ["1.md: cannot be split: ValueError"]


async def test_unreadable_documents_are_named(tmp_path: Any) -> None:
    """A file that is no text, a blank document, one that PostgreSQL could not keep."""
    (tmp_path / "good.txt").write_text("good")
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\x00\xd8")
    passages = store()
    report = await ingest([tmp_path / "good.txt", tmp_path / "bad.txt"], by_line, embed, passages, cleanup="full")
    assert texts_of(passages) == ["good"]
    assert report.skipped_count == 1
    assert "bad.txt" in report.skipped[0].where
    report = await ingest([Document(page_content=" "), Document(page_content="a\0")], by_line, embed, store())
    assert [each.where for each in report.skipped] == ["document 1", "document 2"]


async def test_the_list_of_the_skipped_is_bounded() -> None:
    """All are counted."""
    blank = [Document(page_content=" ", metadata={"source": str(number)}) for number in range(9)]
    report = await ingest(blank, by_line, embed, store(), settings=IngestSettings(max_skipped=2))
    assert (len(report.skipped), report.skipped_count) == (2, 9)
    assert "and 7 more" in str(report)


async def test_rows_that_the_writer_refuses_are_left_out() -> None:
    """The rest of their batch is written, and in one piece."""
    rows = [["a", "b", "c"], ["1", "2\0", "3"], ["{}"] * 3]
    batch = pa.RecordBatch.from_arrays([pa.array(each, pa.string()) for each in rows], schema=PIECES)
    passages = store()
    report = await ingest(batch, None, embed, passages)
    assert texts_of(passages) == ["1", "3"]
    assert [str(each) for each in report.skipped] == ["b: holds a NUL"]
    assert passages.remembered.keys() == {"a", "c"}


class _Threads:
    """Those that a run leaves behind."""

    def __init__(self) -> None:
        self._before = set(threading.enumerate())

    @property
    def left(self) -> set[str]:
        now = {each for each in threading.enumerate() if each.name.startswith("langgraph-prefetch")}
        for thread in now - self._before:
            thread.join(30)  # a busy machine may keep one from its end for longer than a run waits for it
        return {each.name for each in now - self._before if each.is_alive()}


@pytest.mark.parametrize("stage", ["load", "split", "embed", "upsert", "ledger"])
async def test_a_stage_that_fails_stops_all_and_says_which(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One error; no task and no thread is left, and running again gives the rows of a run that never failed."""

    class _Broken(Exception):
        pass

    reached: list[str] = []

    def at(name: str) -> None:
        """The second time that the stage which is to fail comes here, it does."""
        reached.append(name)
        if name == stage and reached.count(name) == 2:
            raise _Broken("with a secret")

    threads, tasks = _Threads(), asyncio.all_tasks()
    passages = store(lambda _: at("upsert"))
    remember = passages.finish

    def finishing(done: Any, *, prune: bool) -> int:
        at("ledger")
        at("ledger")
        return remember(done, prune=prune)

    monkeypatch.setattr(passages, "finish", finishing)

    def loading() -> Any:
        for each in documents(30):
            at("load")
            yield each

    class _Splitter:
        identity = "lines"

        def split(self, given: Any) -> Any:
            if stage == "split":
                return pa.RecordBatch.from_pylist([{"x": 1}])
            lines = [(each.source, line) for each in given for line in each.text.splitlines()]
            columns = [[source for source, _ in lines], [line for _, line in lines], ["{}"] * len(lines)]
            return pa.RecordBatch.from_arrays([pa.array(each, pa.string()) for each in columns], schema=PIECES)

    async def embedding(texts: Sequence[str]) -> Any:
        if stage == "embed":
            return np.ones((len(texts), 3))
        return embed(texts)

    settings = IngestSettings(batch_rows=5, queued_batches=1, request_items=5)
    with pytest.raises(IngestError, match=f"stopped in {stage}") as caught:
        await ingest(loading(), _Splitter(), embedding, passages, settings=settings)
    assert "secret" not in str(caught.value)
    assert threads.left == set()
    assert asyncio.all_tasks() == tasks
    assert passages.open_writers == 0
    stage = "none"
    whole = store()
    for target in (passages, whole):
        await ingest(documents(30), _Splitter(), embedding, target, settings=settings)
    assert rows_of(passages) == rows_of(whole)


async def test_cancelling_leaves_nothing_behind() -> None:
    """Whatever a stage was waiting for; batches that were written are whole."""
    threads, tasks = _Threads(), asyncio.all_tasks()
    writing = asyncio.Event()
    loop = asyncio.get_running_loop()
    passages = store(lambda _: loop.call_soon_threadsafe(writing.set))

    async def slow(texts: Sequence[str]) -> Any:
        if len(passages.batches) > 1:
            await asyncio.Event().wait()
        return embed(texts)

    settings = IngestSettings(batch_rows=4, request_items=4, in_flight=2, queued_batches=1)
    running = asyncio.create_task(ingest(documents(100), by_line, slow, passages, settings=settings))
    await writing.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert threads.left == set()
    assert asyncio.all_tasks() == tasks
    assert passages.open_writers == 0
    assert len(passages.rows) == sum(each.num_rows for each in passages.batches)


async def test_a_cancelled_request_is_not_made_again() -> None:
    """A cancelled run ends where it is, instead of taking the cancellation for a failure of the embedder."""
    asked = 0
    waits = asyncio.Event()

    async def hanging(texts: Sequence[str]) -> Any:
        nonlocal asked
        asked += 1
        waits.set()
        await asyncio.Event().wait()

    running = asyncio.create_task(ingest(documents(1, lines=1), by_line, hanging, store(), settings=ONE_BY_ONE))
    await waits.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert asked == 1
