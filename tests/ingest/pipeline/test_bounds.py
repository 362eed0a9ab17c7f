"""Nothing grows with the corpus, and whoever watches sees how it goes."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from langgraph_prefetch.ingest import IngestProgress, IngestSettings, estimate, ingest
from langgraph_prefetch.ingest.limiter import Limiter
from langgraph_prefetch.ingest.pace import Pace
from langgraph_prefetch.ingest.queues import BoundedQueue
from langgraph_prefetch.ingest.workers import Workers
from tests.ingest.pipeline.corpus import by_line, documents, embed, store


@given(sizes=st.lists(st.integers(0, 50), max_size=30), most=st.integers(1, 4), bytes_=st.integers(1, 60))
def test_a_queue_holds_no_more_than_its_bounds(sizes: list[int], most: int, bytes_: int) -> None:
    """In items and in bytes, but for an item that is too large alone; the order is kept."""

    async def run() -> list[int]:
        queue: BoundedQueue[int] = BoundedQueue(max_items=most, max_bytes=bytes_)

        async def put() -> None:
            for number, size in enumerate(sizes):
                await queue.put(number, size)
            await queue.close()

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(put())
            taken = []
            while (item := await queue.get()) is not None:
                taken.append(item)
                await asyncio.sleep(0)
        assert queue.depth.peak_items <= most
        assert queue.depth.peak_bytes <= max(bytes_, *sizes, 0)
        assert (queue.depth.items, queue.depth.bytes) == (0, 0)
        return taken

    assert asyncio.run(run()) == list(range(len(sizes)))


async def test_a_slow_writer_holds_the_loader_back() -> None:
    """While nothing is written only so many documents are read, however many there are."""
    read, may_write, full = 0, threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def endless() -> Iterator[Document]:
        nonlocal read
        for each in documents(2_000, lines=1):
            read += 1
            yield each

    passages = store(lambda _: (loop.call_soon_threadsafe(full.set), may_write.wait(20)))
    settings = IngestSettings(batch_rows=10, queued_batches=2, queued_bytes=10_000, request_items=10)
    seen: list[IngestProgress] = []
    running = asyncio.create_task(
        ingest(endless(), by_line, embed, passages, settings=settings, progress=seen.append, cleanup=None)
    )
    await full.wait()
    before = -1
    while before != read:  # until it no longer moves
        before = read
        await asyncio.sleep(0.05)
    # the ledger is asked for 64 at first, and then for 256; a few batches are in the queues and under way
    assert read < 64 + 256 + 10 * 12
    may_write.set()
    report = await running
    assert report.passages == 2_000
    for name, depth in report.queues.items():
        assert depth.peak_items <= depth.max_items, name
        assert depth.peak_bytes <= depth.max_bytes, name
    assert seen[-1].done
    assert seen[-1].written == 2_000
    assert [each.written for each in seen] == sorted(each.written for each in seen)
    assert set(seen[-1].stage_seconds) == {"load", "split", "embed", "upsert", "finish"}


async def test_requests_under_way_are_bounded() -> None:
    """By what is set."""
    under_way = most = 0

    async def counting(texts: Sequence[str]) -> Any:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.001)
        under_way -= 1
        return embed(texts)

    settings = IngestSettings(request_items=2, in_flight=3)
    await ingest(documents(20), by_line, counting, store(), settings=settings)
    assert most == 3


async def test_stages_overlap() -> None:
    """A later document is being embedded while an earlier one is being written."""
    embedding, writing, loop = asyncio.Event(), asyncio.Event(), asyncio.get_running_loop()

    def meet(_: Any) -> None:
        loop.call_soon_threadsafe(writing.set)
        assert asyncio.run_coroutine_threadsafe(asyncio.wait_for(embedding.wait(), 20), loop).result(20)

    async def watched(texts: Sequence[str]) -> Any:
        if "a 3.0" in texts:
            await asyncio.wait_for(writing.wait(), 20)
            embedding.set()
        return embed(texts)

    passages = store(meet)
    await ingest(documents(4), by_line, watched, passages, settings=IngestSettings(batch_rows=3, request_items=3))
    assert len(passages.rows) == 12


async def test_a_watcher_that_raises_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """It is told no more."""

    def broken(_: IngestProgress) -> None:
        raise ValueError

    report = await ingest(documents(2), by_line, embed, store(), progress=broken)
    assert report.written.added == 6
    assert caplog.text.count("is not told any more: ValueError") == 1


async def test_a_dry_run_counts_and_changes_nothing() -> None:
    """What a run would do, and what it would cost."""
    passages, asked = store(), 0

    def counting(texts: Sequence[str]) -> Any:
        nonlocal asked
        asked += 1
        return embed(texts)

    settings = IngestSettings(batch_rows=6, request_items=4)
    report = await ingest(documents(2), by_line, counting, passages, settings=settings)
    asked, batches = 0, len(passages.batches)
    told = await estimate(
        documents(6), by_line, counting, passages,
        settings=settings, costs=report.costs, price_per_million_tokens=2.0,
    )  # fmt: skip
    assert (asked, len(passages.batches)) == (0, batches)
    assert (told.documents, told.unchanged, told.passages, told.requests) == (4, 2, 12, 4)
    assert told.chars == 12 * len("a 0.0")
    assert (told.tokens, told.price) == (15, 15 * 2 / 1e6)
    chosen = Pace(settings, blocking=True, costs=report.costs).load
    assert told.seconds == report.costs.predict(12, {"embed": chosen})
    assert "4 documents to ingest, 2 sources unchanged" in str(told)
    alone = await estimate(documents(6), by_line, counting, None, settings=settings)
    assert (alone.documents, alone.seconds, alone.price) == (6, None, None)


async def test_workers_end_when_they_are_told_to() -> None:
    """A call that no longer counts is waited for, one that hangs is left to itself."""
    workers, go = Workers(2, "tested"), threading.Event()
    assert await workers.run(lambda: threading.current_thread().name) == "tested"
    with pytest.raises(RuntimeError):
        await workers.run(lambda: next(iter(())))
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()
    hanging = asyncio.create_task(workers.run(lambda: (loop.call_soon_threadsafe(begun.set), go.wait(20))))
    await begun.wait()
    hanging.cancel()
    assert not await workers.close(0.01)
    go.set()
    assert await workers.close(20)


async def test_a_limit_may_rise_and_a_waiter_give_up() -> None:
    """Nobody's turn is lost."""
    most, inside = 1, 0
    limiter = Limiter(lambda: most)
    done = asyncio.Event()

    async def enter() -> None:
        nonlocal inside
        async with limiter:
            inside += 1
            await done.wait()
            inside -= 1

    tasks = [asyncio.create_task(enter()) for _ in range(4)]
    await asyncio.sleep(0)
    assert inside == 1
    tasks[1].cancel()
    done.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert (inside, limiter.under_way) == (0, 0)
