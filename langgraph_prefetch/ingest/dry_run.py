"""A dry run: what an ingestion would do, counted without embedding or writing anything."""

from __future__ import annotations

import math
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from langgraph_prefetch.ingest.costs import CostModel
from langgraph_prefetch.ingest.embedders import as_embedder
from langgraph_prefetch.ingest.engines import cut
from langgraph_prefetch.ingest.keepers import LedgerKeeper
from langgraph_prefetch.ingest.loading import AnyLoader, Loader
from langgraph_prefetch.ingest.memory import NoMemory
from langgraph_prefetch.ingest.merge import merged
from langgraph_prefetch.ingest.pace import Pace
from langgraph_prefetch.ingest.report import SkipList
from langgraph_prefetch.ingest.rows import parts_of, strings
from langgraph_prefetch.ingest.settings import Cleanup, IngestSettings, check_cleanup
from langgraph_prefetch.ingest.sources import as_source
from langgraph_prefetch.ingest.sources.shapes import Skipped
from langgraph_prefetch.ingest.splitting import as_splitter
from langgraph_prefetch.ingest.tabular import TabularLoader, as_batches
from langgraph_prefetch.ingest.units import Marks
from langgraph_prefetch.ingest.workers import Workers
from langgraph_prefetch.ports import PassageStore

CHARS_PER_TOKEN = 4.0
"""What English text has with the tokenizers in use; other languages and code have fewer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What an ingestion would do.

    Attributes:
        documents: that are new or changed.
        unchanged: sources that would be passed over.
        passages: that would be embedded and written, duplicates merged.
        chars: of these passages.
        tokens: the same in tokens, at four characters each.
        requests: of the embedder.
        seconds: it would take by the cost model; None without one.
        price: of the tokens; None where no price is known.
        skipped: what would be left out and why, the first of them.
        skipped_count: how many would be left out in all.
    """

    documents: int
    unchanged: int
    passages: int
    chars: int
    tokens: int
    requests: int
    seconds: float | None
    price: float | None
    skipped: tuple[Skipped, ...]
    skipped_count: int

    def __str__(self) -> str:
        told = [
            f"{self.documents:,} documents to ingest, {self.unchanged:,} sources unchanged",
            f"{self.passages:,} passages, about {self.tokens:,} tokens in {self.requests:,} requests",
        ]
        if self.seconds is not None:
            told.append(f"about {self.seconds:.1f} s")
        if self.price is not None:
            told.append(f"about {self.price:,.2f} for embedding")
        if self.skipped_count:
            told.append(f"{self.skipped_count:,} would be skipped")
        return "; ".join(told)


async def estimate(
    source: Any,
    split: Any,
    embed: Any,
    store: PassageStore | None,
    *,
    cleanup: Cleanup | None = "incremental",
    force_update: bool = False,
    settings: IngestSettings | None = None,
    costs: CostModel | None = None,
    embedder_identity: str | None = None,
    price_per_million_tokens: float | None = None,
) -> Estimate:
    """Load and split, but neither embed nor write.

    The arguments are those of ``ingest``. Without a ``store`` everything counts as new; with ``costs``, the model of an
    earlier run's report, the time is told, and with a price per million tokens, in any currency, what it would cost.

    Raises:
        ConfigurationError: an argument cannot be read as one.
    """
    settings = settings or IngestSettings()
    check_cleanup(cleanup)
    worker = Workers(1, "langgraph-prefetch-estimate")
    try:
        return await worker.run(
            lambda: _counted(
                source, split, embed, store, cleanup, force_update, settings, costs, embedder_identity,
                price_per_million_tokens,
            )
        )  # fmt: skip
    finally:
        await worker.close()


def _counted(
    source: Any,
    split: Any,
    embed: Any,
    store: PassageStore | None,
    cleanup: Cleanup | None,
    force: bool,
    settings: IngestSettings,
    costs: CostModel | None,
    identity: str | None,
    price: float | None,
) -> Estimate:
    embedder, splitter, batches = as_embedder(embed, identity), as_splitter(split), as_batches(source)
    skipped = SkipList(settings.max_skipped)
    marks = Marks(splitter="" if batches is not None else splitter.identity, embedder=embedder.identity)
    memory = LedgerKeeper(store, marks, cleanup, force=force) if store is not None else NoMemory()
    mark = blake2b(embedder.identity.encode(), digest_size=16).digest()
    loader: AnyLoader
    if batches is not None:
        loader = TabularLoader(batches, settings, memory=memory, embedder=mark)
    else:
        loader = Loader(as_source(source), settings, memory=memory, skip=skipped.add)
    passages = chars = requests = 0
    load = Pace(settings, blocking=embedder.blocking is not None, costs=costs).load
    for group in loader.groups():
        rows = group.rows
        if rows is None:
            found = cut(splitter, group.documents, mark)
            rows = found.rows
            for each in found.refused:
                skipped.add(each)
        rows, _ = merged(rows, group)
        passages += rows.num_rows
        chars += sum(map(len, strings(rows, "text")))
        requests += sum(math.ceil(part.num_rows / load.batch) for part in parts_of(rows, settings.batch_rows))
    tokens = round(chars / CHARS_PER_TOKEN)
    return Estimate(
        documents=loader.loaded.documents,
        unchanged=loader.loaded.unchanged,
        passages=passages,
        chars=chars,
        tokens=tokens,
        requests=requests,
        seconds=costs.predict(passages, {"embed": load}) if costs and passages else (0.0 if costs else None),
        price=None if price is None else tokens * price / 1e6,
        skipped=skipped.listed,
        skipped_count=skipped.count,
    )
