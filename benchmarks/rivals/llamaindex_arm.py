"""LlamaIndex: its ingestion pipeline into its own Postgres store."""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core import Document
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.vector_stores.postgres import PGVectorStore

from benchmarks.rivals.arm import Done, Job, Stopwatch, main
from benchmarks.rivals.standin import DIMENSIONS, Service


class StandIn(BaseEmbedding):  # type: ignore[misc]  # not installed where types are checked
    """The service as LlamaIndex asks it. Made anew in each of its processes."""

    seconds: float
    _service: Service | None = PrivateAttr(default=None)

    @property
    def service(self) -> Service:
        """The one of this process."""
        if self._service is None:
            self._service = Service(self.seconds)
        return self._service

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        found: list[list[float]] = self.service.embed(texts).tolist()
        return found

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        found: list[list[float]] = (await self.service.aembed(texts)).tolist()
        return found

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def store_of(job: Job) -> Any:
    """Its store; the table is made when rows come."""
    return PGVectorStore(
        connection_string=job.sqlalchemy_url("psycopg2"),
        async_connection_string=job.sqlalchemy_url("asyncpg"),
        table_name="passages",
        embed_dim=DIMENSIONS,
    )


def by_pipeline(job: Job) -> Done:
    """All of it."""
    settings = job.settings
    sizes: dict[str, Any] = {"embed_batch_size": settings["rows"]} if "rows" in settings else {}
    if "flying" in settings:
        sizes["num_workers"] = settings["flying"]
    embedding = StandIn(seconds=job.delay, **sizes)
    pipeline = IngestionPipeline(transformations=[SentenceSplitter(), embedding], vector_store=store_of(job))
    watch = Stopwatch()
    documents = [
        # Its metadata would be embedded with the text, and be part of each vector.
        Document(
            text=row["text"], metadata={"key": row["key"]}, doc_id=row["key"], excluded_embed_metadata_keys=["key"]
        )
        for row in job.rows()
    ]
    if settings.get("is_async"):
        nodes = asyncio.run(pipeline.arun(documents=documents))
    else:
        nodes = pipeline.run(documents=documents, num_workers=settings.get("processes"))
    more = {"chunks": len(nodes), "requests": embedding.service.requests, "flying": embedding.service.most}
    sql = "select metadata_->>'key', text, embedding from data_passages"
    return Done(rows_sql=sql, seconds=watch.seconds, more=more)


if __name__ == "__main__":
    main({"llamaindex": by_pipeline})
