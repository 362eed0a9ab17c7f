"""Ingesting: documents in, rows of a passage store out."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterable
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal

from langchain_core.indexing import RecordManager

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.ingest.costs import CostModel, Load, model_of
from langgraph_prefetch.ingest.embedders import Embedder, as_embedder
from langgraph_prefetch.ingest.engines import Engine, LocalEngine
from langgraph_prefetch.ingest.interpreter import Interpreter
from langgraph_prefetch.ingest.keepers import Keeper, LedgerKeeper, RecordKeeper
from langgraph_prefetch.ingest.loading import AnyLoader, Loader
from langgraph_prefetch.ingest.pace import Pace
from langgraph_prefetch.ingest.pipeline import Pipeline
from langgraph_prefetch.ingest.report import IngestProgress, IngestReport, Progress, SkipList
from langgraph_prefetch.ingest.requests import Requests
from langgraph_prefetch.ingest.settings import Cleanup, IngestSettings, check_cleanup
from langgraph_prefetch.ingest.sources import as_source
from langgraph_prefetch.ingest.splitting import Splitter, as_splitter
from langgraph_prefetch.ingest.steps import Steps
from langgraph_prefetch.ingest.streams import Bridge
from langgraph_prefetch.ingest.tabular import TabularLoader, as_batches
from langgraph_prefetch.ingest.units import Marks
from langgraph_prefetch.ingest.workers import Workers
from langgraph_prefetch.ports import PassageStore

if TYPE_CHECKING:
    from distributed import Client

logger = logging.getLogger("langgraph_prefetch")

EngineName = Literal["local", "dask"]


async def ingest(
    source: Any,
    split: Any,
    embed: Any,
    store: PassageStore,
    *,
    cleanup: Cleanup | None = "incremental",
    records: RecordManager | None = None,
    force_update: bool = False,
    settings: IngestSettings | None = None,
    costs: CostModel | None = None,
    embedder_identity: str | None = None,
    progress: Progress | None = None,
    trace: bool = False,
    engine: EngineName = "local",
    client: Client | None = None,
) -> IngestReport:
    """Load documents, split them, embed the passages and write them to a store, all at the same time.

    A source whose documents, splitter and embedder are as they were when an earlier run finished it is passed over. A
    run that is cut off, however, leaves whole rows, and the next one goes on; the rows at the end are the same.

    Args:
        source: paths, a LangChain loader, LangChain documents, ours, or an async iterable of documents; also anything
            with ``parts()``. Or what is split already: a ``pyarrow.RecordBatch``, a ``Table``, a ``RecordBatchReader``
            or a list of batches, with the string columns ``source``, ``text``, ``metadata`` (JSON objects) and, if you
            like, ``id``. In a stream a source's documents, or rows, come one after the other.
        split: a LangChain text splitter, one of ours, a function from a text to its pieces, or None for the default.
        embed: a LangChain ``Embeddings``, one of ours, or a function, async or not, from a list of ``n`` texts to a
            float32 matrix of shape ``(n, dimensions)``.
        store: where the rows go.
        cleanup: what of earlier runs is deleted, as in ``langchain_core.indexing.index``. ``"incremental"``: older
            passages of each source, as soon as its new ones are written. ``"scoped_full"``: the same, at the end of a
            run without an error. ``"full"``: then also every source that was not seen. None: nothing.
        records: remember rows in this ``RecordManager`` instead of sources in the store's ledger.
        force_update: write everything anew.
        settings: sizes and limits.
        costs: the cost model of an earlier run's report; then nothing is probed.
        embedder_identity: a name that changes whenever the embedder gives other vectors, where its class and model do
            not tell.
        progress: told how far the run is.
        trace: record what each operator did.
        engine: ``"dask"`` splits and embeds on a Dask cluster.
        client: the cluster's client; the current one, if not given.

    Returns:
        What was done, and what was skipped and why.

    Raises:
        ConfigurationError: an argument is none of these.
        IngestError: a stage failed for good. What was written stays.
        StoreError: the store failed.
    """
    settings = settings or IngestSettings()
    check_cleanup(cleanup)
    began = time.perf_counter()
    embedder = as_embedder(embed, embedder_identity)
    skipped = SkipList(settings.max_skipped)
    helper = Workers(1, "langgraph-prefetch-ingest")
    running = await _engine(engine, client, settings)
    bridge: Bridge | None = None
    keeper: Keeper | None = None
    try:
        if isinstance(source, AsyncIterable):
            source = bridge = Bridge(source)
        batches = as_batches(source)
        splitter = as_splitter(split)
        marks = Marks(splitter="" if batches is not None else splitter.identity, embedder=embedder.identity)
        keeper = await helper.run(_keeper, store, records, marks, cleanup, force_update)
        mark = blake2b(embedder.identity.encode(), digest_size=16).digest()
        loader: AnyLoader
        if batches is not None:
            loader = TabularLoader(batches, settings, memory=keeper, embedder=mark)
        else:
            loader = Loader(
                await helper.run(as_source, source),
                settings,
                memory=keeper,
                skip=skipped.add,
            )
        run = _Run(
            loader, splitter, embedder, mark, running, store, keeper, settings, costs, skipped, progress, began, trace
        )
        return await run()
    finally:
        if keeper is not None:
            await helper.run(keeper.close)
        if bridge is not None:
            await bridge.close()
        await running.close()
        await helper.close()


def ingest_sync(*args: Any, **kwargs: Any) -> IngestReport:
    """As ``ingest``, for code without an event loop.

    Raises:
        ConfigurationError: there is one here; ``await ingest(...)`` instead.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(ingest(*args, **kwargs))
    raise ConfigurationError("ingest_sync was called within an event loop: use await ingest(...)")


def _keeper(
    store: PassageStore, records: RecordManager | None, marks: Marks, cleanup: Cleanup | None, force: bool
) -> Keeper:
    if records is not None:
        return RecordKeeper(records, store, cleanup, force=force)
    return LedgerKeeper(store, marks, cleanup, force=force)


async def _engine(name: EngineName, client: Client | None, settings: IngestSettings) -> Engine:
    if name == "local":
        return LocalEngine(settings.splitters, settings.in_flight or settings.max_in_flight)
    if name == "dask":
        from langgraph_prefetch.ingest.on_dask import DaskEngine

        return DaskEngine(client, settings.splitters + (settings.in_flight or settings.max_in_flight))
    raise ConfigurationError(f"engine is 'local' or 'dask', not {name!r}")


@dataclass
class _Run:
    loader: AnyLoader
    splitter: Splitter
    embedder: Embedder
    mark: bytes
    engine: Engine
    store: PassageStore
    keeper: Keeper
    settings: IngestSettings
    costs: CostModel | None
    skipped: SkipList
    progress: Progress | None
    began: float
    trace: bool

    async def __call__(self) -> IngestReport:
        self.pace = Pace(self.settings, blocking=self.embedder.blocking is not None, costs=self.costs)
        interpreter = Interpreter()
        self.requests = Requests(
            self.embedder,
            self.engine,
            self.settings,
            self.pace,
            dimensions=self.store.dimensions,
            metric=self.store.metric,
            clock=time.perf_counter,
            interpreter=interpreter,
        )
        self.steps = Steps(self.trace)
        self.pipeline = Pipeline(
            loader=self.loader,
            splitter=self.splitter,
            embedder_mark=self.mark,
            requests=self.requests,
            engine=self.engine,
            store=self.store,
            keeper=self.keeper,
            settings=self.settings,
            skipped=self.skipped,
            steps=self.steps,
            tell=self._tell,
            pace=self.pace,
            interpreter=interpreter,
        )
        await self.pipeline.run()
        self._tell(done=True)
        return self._report()

    def _tell(self, *, done: bool = False) -> None:
        pipeline = self.pipeline
        self.pace.hear(pipeline.per_passage())
        if self.progress is None:
            return
        try:
            self.progress(
                IngestProgress(
                    seconds=time.perf_counter() - self.began,
                    documents=self.loader.loaded.documents,
                    unchanged=self.loader.loaded.unchanged,
                    passages=pipeline.passages,
                    embedded=self.requests.embedded,
                    written=pipeline.rows_written,
                    skipped=self.skipped.count,
                    requests=self.requests.room.under_way,
                    queues={name: queue.depth for name, queue in pipeline.queues.items()},
                    stage_seconds=self._stage_seconds(),
                    done=done,
                )
            )
        except Exception as error:  # noqa: BLE001 - whoever watches must not stop the run
            logger.warning("progress of an ingestion is not told any more: %s", type(error).__name__)
            self.progress = None

    def _stage_seconds(self) -> dict[str, float]:
        return {**self.pipeline.stage_seconds, "embed": self.requests.seconds}

    def _report(self) -> IngestReport:
        pipeline, settings = self.pipeline, self.settings
        seconds = time.perf_counter() - self.began
        loads = {
            "load": Load(batch=settings.batch_rows, workers=1),
            "split": Load(batch=settings.batch_rows, workers=settings.splitters),
            "embed": self.pace.load,
            "upsert": Load(batch=settings.batch_rows, workers=max(pipeline.writers, 1)),
        }
        timings = {**pipeline.timings, "embed": self.pace.timings}
        return IngestReport(
            seconds=seconds,
            documents=self.loader.loaded.documents,
            unchanged=self.loader.loaded.unchanged,
            passages=pipeline.passages,
            duplicates=pipeline.duplicates,
            embedded=self.requests.embedded,
            requests=self.requests.succeeded,
            written=pipeline.written,
            deleted=pipeline.deleted,
            skipped=self.skipped.listed,
            skipped_count=self.skipped.count,
            stage_seconds=self._stage_seconds(),
            queues={name: queue.depth for name, queue in pipeline.queues.items()},
            costs=model_of(
                timings,
                loads,
                items=pipeline.rows_written,
                seconds=seconds,
                shared=pipeline.interpreter.per_passage * pipeline.rows_written,
            ),
            settings=replace(
                settings,
                request_items=self.pace.load.batch,
                in_flight=self.pace.load.workers,
                writers=self.pace.writers,
            ),
            trace=self.steps.trace,
        )
