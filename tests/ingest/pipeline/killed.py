"""``killed.py URL VERSION``: ingests a corpus, and prints how many rows are written after each batch."""

import asyncio
import sys
from collections.abc import Sequence
from typing import Any

from langgraph_prefetch.ingest import IngestSettings, ingest
from langgraph_prefetch.retrieval import PgVectorStore
from tests.ingest.pipeline import corpus


async def slow(texts: Sequence[str]) -> Any:
    await asyncio.sleep(0.005)
    return corpus.embed(texts)


async def main(url: str, version: str) -> None:
    store = PgVectorStore(None, url=url, dimensions=corpus.DIMENSIONS)
    given = corpus.documents(300, of=version)
    cut = IngestSettings(batch_rows=20, request_items=20, in_flight=2, writers=2)
    name = f"{corpus.embed.__module__}.{corpus.embed.__qualname__}()"
    await ingest(
        given, corpus.by_line, slow, store, settings=cut, embedder_identity=name,
        progress=lambda at: print(at.written, flush=True),
    )  # fmt: skip
    store.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
