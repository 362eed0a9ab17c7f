"""LangChain: `index` and `aindex` into its own PGVector."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any

from langchain_classic.indexes import SQLRecordManager
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.indexing import InMemoryRecordManager, aindex, index
from langchain_postgres import PGEngine, PGVector, PGVectorStore
from langchain_text_splitters import RecursiveCharacterTextSplitter

from benchmarks.rivals.arm import Done, Job, Stopwatch, main
from benchmarks.rivals.standin import DIMENSIONS, Service

COLLECTION = "passages"


class StandIn(Embeddings):
    """The service as LangChain asks it: one request a call."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        found: list[list[float]] = self._service.embed(texts).tolist()
        return found

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        found: list[list[float]] = (await self._service.aembed(texts)).tolist()
        return found


def documents(job: Job, part: int = 0, parts: int = 1) -> Iterator[Document]:
    """The passages as its splitter makes them, of every ``parts``-th document."""
    splitter = RecursiveCharacterTextSplitter()
    for number, row in enumerate(job.rows()):
        if number % parts == part:
            yield from splitter.split_documents([Document(row["text"], metadata={"key": row["key"]})])


def store_of(job: Job, embeddings: Embeddings, *, is_async: bool) -> tuple[Any, str]:
    """Its store, made and empty, and what selects the rows."""
    url = job.sqlalchemy_url("psycopg")
    if job.settings["store"] == "PGVector":
        store = PGVector(embeddings, connection=url, collection_name=COLLECTION, async_mode=is_async)
        return store, "select cmetadata->>'key', document, embedding from langchain_pg_embedding"
    engine = PGEngine.from_connection_string(url)
    engine.init_vectorstore_table(COLLECTION, DIMENSIONS, id_column=_text_id())
    sql = "select langchain_metadata->>'key', content, embedding from passages"
    return PGVectorStore.create_sync(engine, embeddings, COLLECTION), sql


def _text_id() -> Any:
    from langchain_postgres import Column

    return Column("langchain_id", "TEXT", nullable=False)


def records_of(job: Job, *, is_async: bool) -> Any:
    """Its record manager, in the same database or in memory."""
    if job.settings["records"] == "memory":
        return InMemoryRecordManager(COLLECTION)
    return SQLRecordManager(COLLECTION, db_url=job.sqlalchemy_url("psycopg"), async_mode=is_async)


def by_index(job: Job) -> Done:
    """The blocking form."""
    service, rows = Service(job.delay), job.settings["rows"]
    store, sql = store_of(job, StandIn(service), is_async=False)
    records = records_of(job, is_async=False)
    records.create_schema()

    def once(given: Iterable[Document]) -> float:
        watch = Stopwatch()
        index(
            given, records, store, batch_size=rows, cleanup="incremental", source_id_key="key", key_encoder="sha256"
        )  # fmt: skip
        return watch.seconds

    seconds, again, at_hand = once(documents(job)), once(documents(job)), list(documents(job))
    more = {"requests": service.requests, "flying": service.most, "again_at_hand": once(at_hand)}
    return Done(rows_sql=sql, seconds=seconds, again=again, more=more)


def by_aindex(job: Job) -> Done:
    """The awaited form; with ``parts`` so many at once, each over a part of the documents."""

    async def run() -> Done:
        service, rows, parts = Service(job.delay), job.settings["rows"], job.settings["parts"]
        store, sql = store_of(job, StandIn(service), is_async=True)
        if isinstance(store, PGVector):
            await store.acreate_collection()
        managers = [records_of(job, is_async=True) for _ in range(parts)]
        await managers[0].acreate_schema()

        async def once() -> float:
            watch = Stopwatch()
            await asyncio.gather(
                *(
                    aindex(
                        documents(job, part, parts), records, store, batch_size=rows, cleanup="incremental",
                        source_id_key="key", key_encoder="sha256",
                    )
                    for part, records in enumerate(managers)
                )
            )  # fmt: skip
            return watch.seconds

        first, again = await once(), await once()
        more = {"requests": service.requests, "flying": service.most}
        return Done(rows_sql=sql, seconds=first, again=again, more=more)

    return asyncio.run(run())


if __name__ == "__main__":
    main({"langchain index": by_index, "langchain aindex": by_aindex})
