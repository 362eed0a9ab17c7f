"""The four stages of an ingestion, all at work at once, with bounded queues between them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from langgraph_prefetch.errors import MissingExtraError, RefusedPassagesError
from langgraph_prefetch.ingest.costs import Timing
from langgraph_prefetch.ingest.engines import Cut, Engine
from langgraph_prefetch.ingest.grouping import Group
from langgraph_prefetch.ingest.interpreter import Interpreter, clocked
from langgraph_prefetch.ingest.keepers import Keeper
from langgraph_prefetch.ingest.loading import AnyLoader
from langgraph_prefetch.ingest.merge import merged
from langgraph_prefetch.ingest.pace import Pace
from langgraph_prefetch.ingest.queues import BoundedQueue
from langgraph_prefetch.ingest.report import SkipList
from langgraph_prefetch.ingest.requests import Requests
from langgraph_prefetch.ingest.rows import parts_of, strings, with_vectors
from langgraph_prefetch.ingest.settings import IngestSettings
from langgraph_prefetch.ingest.sources.columns import Documents
from langgraph_prefetch.ingest.sources.shapes import Skipped
from langgraph_prefetch.ingest.splitting.shapes import Splitter
from langgraph_prefetch.ingest.stages import first_error, stage
from langgraph_prefetch.ingest.steps import Steps, of_documents, of_ids, of_vectors
from langgraph_prefetch.ingest.units import done_of
from langgraph_prefetch.ingest.workers import Workers
from langgraph_prefetch.passages import SourcesDone, Written
from langgraph_prefetch.ports import PassageStore, PassageWriter

try:
    import numpy as np
    import pyarrow as pa
except ImportError as error:
    raise MissingExtraError("pyarrow", "ingest") from error

_FINISHED_AT_ONCE = 4_096
_FINISH_SECONDS = 1.0
_STAGES = ("load", "split", "embed", "upsert")
_KEPT_TIMINGS = 4_096


@dataclass(slots=True, eq=False)
class _Read:
    """A group, and how long loading it took and computed."""

    group: Group
    seconds: float
    cpu_seconds: float


@dataclass(slots=True, eq=False)
class _Batch:
    """Rows of one group on their way to a writer."""

    number: int
    group: _Outstanding
    rows: pa.RecordBatch
    vectors: asyncio.Task[pa.RecordBatch]


@dataclass(slots=True, eq=False)
class _Outstanding:
    group: Group
    batches: int


class Pipeline:
    """One run. Everything but the stages' work itself happens on the caller's event loop.

    Results are passed on in the order of what they were made of, however they overtake each other, so that the same
    input gives the same batches. Equal rows meet, and become one, before the batches are spread over the writers: no
    row is in two batches, and so none has two writers, however many there are.
    """

    def __init__(
        self,
        *,
        loader: AnyLoader,
        splitter: Splitter,
        embedder_mark: bytes,
        requests: Requests,
        engine: Engine,
        store: PassageStore,
        keeper: Keeper,
        settings: IngestSettings,
        skipped: SkipList,
        steps: Steps,
        tell: Callable[[], None],
        pace: Pace,
        interpreter: Interpreter,
    ) -> None:
        self._loader, self._splitter, self._embedder_mark = loader, splitter, embedder_mark
        self._requests, self._engine, self._store, self._keeper = requests, engine, store, keeper
        self._settings, self._skipped, self._tell = settings, skipped, tell
        self._pace, self.interpreter = pace, interpreter
        self.writers = self._writing = 0
        self._hiring: asyncio.TaskGroup | None = None
        self._ledger = Workers(1, "langgraph-prefetch-ledger")
        # One: what is read further ahead takes time from the stages behind it, and gains none.
        self._to_split: BoundedQueue[_Read] = self._queue(1)
        self._to_embed: BoundedQueue[tuple[_Read, asyncio.Task[Cut]]] = self._queue(settings.splitters)
        self._to_upsert: BoundedQueue[_Batch] = self._queue()
        self._to_finish: BoundedQueue[SourcesDone] = self._queue()
        self.queues: dict[str, BoundedQueue[Any]] = {
            "split": self._to_split,
            "embed": self._to_embed,
            "upsert": self._to_upsert,
            "finish": self._to_finish,
        }
        self.timings: dict[str, list[Timing]] = {name: [] for name in _STAGES}
        self.stage_seconds = dict.fromkeys((*_STAGES, "finish"), 0.0)
        self.passages = self.duplicates = self.deleted = self.rows_written = 0
        self.written, self.failed, self._steps = Written(), set[str](), steps

    def _queue(self, items: int | None = None) -> BoundedQueue[Any]:
        return BoundedQueue(max_items=items or self._settings.queued_batches, max_bytes=self._settings.queued_bytes)

    async def run(self) -> None:
        """Run it to its end.

        Raises:
            PrefetchError: a stage failed; the others have been cancelled, and no thread of the run is left.
        """
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._load())
                tasks.create_task(self._split(tasks))
                tasks.create_task(self._embed(tasks))
                tasks.create_task(self._upsert_all())
                tasks.create_task(self._finish())
            self._requests.check_any()
            await self._end()
        except BaseExceptionGroup as group:
            error = first_error(group)
            raise error from error.__cause__
        finally:
            await self._ledger.close()

    async def _load(self) -> None:
        """Read groups on one thread, one ahead of what is being split."""
        worker = Workers(1, "langgraph-prefetch-load")
        groups, number = self._loader.groups(), 0

        def following() -> tuple[Group | None, float, float]:
            began = time.perf_counter()
            group, cpu_seconds = clocked(next, groups, None)
            return group, time.perf_counter() - began, cpu_seconds

        try:
            while True:
                with stage("load"):
                    group, seconds, cpu_seconds = await worker.run(following)
                self.stage_seconds["load"] += seconds
                self._tell()
                if group is None:
                    break
                self._steps.add(
                    "load", number, len(group.documents), len(group.documents), partial(of_documents, group)
                )
                number += 1
                await self._to_split.put(_Read(group, seconds, cpu_seconds), group.chars)
            await self._to_split.close()
        finally:
            if await worker.close():
                groups.close()

    async def _split(self, tasks: asyncio.TaskGroup) -> None:
        while (read := await self._to_split.get()) is not None:
            task = tasks.create_task(self._cut(read.group))
            await self._to_embed.put((read, task), read.group.chars)
        await self._to_embed.close()

    async def _cut(self, group: Group) -> Cut:
        if group.rows is not None:
            return Cut(group.rows, 0.0)
        with stage("split"):
            return await self._engine.split(self._splitter, group.documents, self._embedder_mark)

    async def _embed(self, tasks: asyncio.TaskGroup) -> None:
        number = batches = 0
        while (item := await self._to_embed.get()) is not None:
            (read, task), group = item, item[0].group
            found = await task
            documents = len(group.documents)
            group.documents = Documents()  # not needed any more, and they may be large
            self._timed("load", found.rows.num_rows, read.seconds)
            self._timed("split", found.rows.num_rows, found.seconds)
            self.stage_seconds["split"] += found.seconds
            self.interpreter.took("load", found.rows.num_rows, read.cpu_seconds)
            self.interpreter.took("split", found.rows.num_rows, found.cpu_seconds)
            for each in found.refused:
                self._skip(each, group)
            with stage("split"):
                rows, duplicates = merged(found.rows, group)
            self.passages += found.rows.num_rows
            self.duplicates += duplicates
            self._tell()
            self._steps.add("split", number, documents, found.rows.num_rows, partial(of_ids, found.rows))
            number += 1
            rows = await self._absent(rows, group)
            parts = parts_of(rows, self._settings.batch_rows)
            outstanding = _Outstanding(group, len(parts))
            if not parts:
                await self._done(group)
            for part in parts:
                vectors = tasks.create_task(self._vectors(part, group))
                size = part.nbytes + 4 * part.num_rows * self._store.dimensions
                await self._to_upsert.put(_Batch(batches, outstanding, part, vectors), size)
                batches += 1
        await self._to_upsert.close()

    async def _absent(self, rows: pa.RecordBatch, group: Group) -> pa.RecordBatch:
        """Those rows that are not known to be in the store."""
        if not rows.num_rows:
            return rows
        with stage("ledger"):
            absent = await self._ledger.run(self._keeper.absent, strings(rows, "id"))
            if absent is None or all(absent):
                return rows
            mask = np.array(absent)
            there = rows.filter(pa.array(~mask))
            await self._ledger.run(self._keeper.wrote, strings(there, "id"), strings(there, "source"))
        self.written += Written(unchanged=there.num_rows)
        return rows.filter(pa.array(mask))

    async def _vectors(self, rows: pa.RecordBatch, group: Group) -> pa.RecordBatch:
        matrix, refused = await self._requests.vectors(rows)
        batch = with_vectors(rows, matrix)
        if self._hiring is not None and self._to_upsert.depth.items and self._writing >= self.writers:
            self._pace.waits()
            self._hire(self._hiring)
        return self._without(batch, refused, group) if refused else batch

    def _without(self, rows: pa.RecordBatch, refused: dict[int, str], group: Group) -> pa.RecordBatch:
        """The rows that are not refused; the others are listed."""
        sources = rows.column("source")
        for row, reason in sorted(refused.items()):
            self._skip(Skipped(where=sources[row].as_py(), reason=reason), group)
        keep = np.ones(rows.num_rows, dtype=np.bool_)
        keep[list(refused)] = False
        return rows.filter(pa.array(keep))

    def _skip(self, skipped: Skipped, group: Group) -> None:
        self._skipped.add(skipped)
        self.failed.add(skipped.where)
        if skipped.where in group.units:
            group.units[skipped.where].whole = False
        elif group.alone is not None:
            group.alone.failed.add(skipped.where)

    async def _upsert_all(self) -> None:
        """Write what comes."""
        async with asyncio.TaskGroup() as writers:
            self._hiring = writers
            self._hire(writers)
        self._hiring = None
        await self._to_finish.close()

    def _hire(self, tasks: asyncio.TaskGroup) -> None:
        """As many writers as are wanted by now."""
        while self.writers < self._pace.writers:
            tasks.create_task(self._upsert(self.writers, tasks))
            self.writers += 1

    async def _upsert(self, number: int, tasks: asyncio.TaskGroup) -> None:
        try:
            async with self._writer(number) as (worker, writer):
                while (batch := await self._to_upsert.get()) is not None:
                    await self._write(worker, writer, batch)
                    if self.writers > self._pace.writers:
                        self.writers -= 1
                        return
                    if self._to_upsert.depth.items:
                        self._hire(tasks)
        except BaseException:
            self._hiring = None  # the group is about to end
            raise

    async def _write(self, worker: Workers, writer: PassageWriter, batch: _Batch) -> None:
        rows = await batch.vectors
        group = batch.group.group
        self._steps.add("embed", batch.number, batch.rows.num_rows, rows.num_rows, partial(of_vectors, rows))
        written = Written()
        if rows.num_rows:
            began = time.perf_counter()
            self._writing += 1
            with stage("upsert"):
                try:
                    written, cpu_seconds = await worker.run(clocked, writer.write, rows)
                except RefusedPassagesError as error:
                    rows, cpu_seconds = self._without(rows, error.refused, group), 0.0
                    if rows.num_rows:
                        written, cpu_seconds = await worker.run(clocked, writer.write, rows)
                await self._wrote(rows)
            self._writing -= 1
            self.interpreter.took("upsert", rows.num_rows, cpu_seconds, worker)
            self.interpreter.wrote(rows.num_rows)
            seconds = time.perf_counter() - began
            self._timed("upsert", rows.num_rows, seconds)
            self._pace.wrote(rows.num_rows, seconds)
            self.stage_seconds["upsert"] += seconds
        self._steps.add("upsert", batch.number, batch.rows.num_rows, rows.num_rows, partial(of_ids, rows))
        self.written += written
        self.rows_written += rows.num_rows
        batch.group.batches -= 1
        if not batch.group.batches:
            await self._done(group)
        self._tell()

    async def _wrote(self, rows: pa.RecordBatch) -> None:
        if rows.num_rows and self._keeper.by_row:
            await self._ledger.run(self._keeper.wrote, strings(rows, "id"), strings(rows, "source"))

    @asynccontextmanager
    async def _writer(self, number: int) -> AsyncIterator[tuple[Workers, PassageWriter]]:
        """A writer and the one thread that uses it, which gives its connection back whatever happens."""
        worker = Workers(1, f"langgraph-prefetch-write-{number}")
        held = ExitStack()
        try:
            with stage("upsert"):
                yield worker, await worker.run(lambda: held.enter_context(self._store.writer()))
        finally:
            closing = worker.submit(held.close)
            closing.add_done_callback(lambda done: done.cancelled() or done.exception())
            await worker.close()

    async def _done(self, group: Group) -> None:
        """All rows of a group are written: the sources that end with it are finished."""
        if group.alone is not None:
            self.failed |= group.alone.failed
            if done := group.alone.finished():
                await self._to_finish.put(done)
            return
        for unit in group.units.values():
            unit.written += 1
        for unit in group.ended:
            unit.read = True
        finished = [unit for unit in dict.fromkeys((*group.units.values(), *group.ended)) if unit.finished]
        self.failed.update(unit.source for unit in finished if not unit.whole)
        # All at once: there may be as many as there are rows.
        if whole := [unit for unit in finished if unit.whole]:
            await self._to_finish.put(done_of(whole))

    async def _finish(self) -> None:
        """Remember finished sources, many at once, but none much later than it was finished."""
        waiting: list[SourcesDone] = []
        ended = False
        while not ended:
            due = time.perf_counter() + _FINISH_SECONDS
            while not ended and sum(map(len, waiting)) < _FINISHED_AT_ONCE and time.perf_counter() < due:
                try:
                    async with asyncio.timeout(_FINISH_SECONDS):
                        some = await self._to_finish.get()
                except TimeoutError:
                    break
                ended = some is None
                waiting += [some] if some else []
            if waiting:
                began = time.perf_counter()
                with stage("ledger"):
                    self.deleted += await self._ledger.run(self._keeper.finish, SourcesDone.joined(waiting))
                self.stage_seconds["finish"] += time.perf_counter() - began
                waiting = []

    async def _end(self) -> None:
        with stage("ledger"):
            sources = self._loader.loaded.sources
            self.deleted += await self._ledger.run(self._keeper.end, sources, frozenset(self.failed))

    def per_passage(self) -> dict[str, float]:
        """Seconds that a passage takes of each stage but embedding, with the workers it has; of those that began."""
        if not self.passages:
            return {}
        seconds, settings = self.stage_seconds, self._settings
        found = {
            "load": seconds["load"] / self.passages,
            "split": seconds["split"] / settings.splitters / self.passages,
            "shared": self.interpreter.per_passage,
        }
        if self.rows_written:
            found["upsert"] = seconds["upsert"] / max(self.writers, 1) / self.rows_written
        return found

    def _timed(self, stage: str, items: int, seconds: float) -> None:
        if items and len(self.timings[stage]) < _KEPT_TIMINGS:
            self.timings[stage].append(Timing(items, seconds))
