"""What the suites' own agent searches: a store on an embedded PostgreSQL, filled, and the tool over it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from langchain_core.documents import Document
from langchain_core.tools import BaseTool, StructuredTool

from langgraph_prefetch.demo.agent import PASSAGES, as_text
from langgraph_prefetch.demo.filling import filled_store
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.ingest import ingest_sync
from langgraph_prefetch.retrieval import PgVectorStore
from langgraph_prefetch.retrieval.embedded import temporary
from langgraph_prefetch.retrieval.embedders import HashingEmbeddings
from langgraph_prefetch.suites.contract import SuiteContext
from langgraph_prefetch.suites.scripted import Scripted, demo_script, file_script
from langgraph_prefetch.testing.latency import with_latency

KINDS = ("demo", "files")
COLLECTION = "prefetch_study"


def scripted_of(context: SuiteContext) -> Scripted:
    """The agent that the suite's file describes; see :func:`described`.

    Raises:
        ConfigurationError, EvaluationFileError: it describes none.
    """
    return described(context.settings, context.data)


def described(settings: Mapping[str, Any], data: Path) -> Scripted:
    """The agent that the settings of a suite's file describe under ``[agent]``. ``data``: the file's folder.

    Raises:
        ConfigurationError: there is no such kind, or no question.
        EvaluationFileError: a file cannot be read.
    """
    agent = settings.get("agent")
    if not isinstance(agent, dict) or agent.get("kind") not in KINDS:
        raise ConfigurationError(f"the suite's file needs [agent] with kind = one of {', '.join(KINDS)}")
    for name in ("latency_seconds", "tokens_per_second"):
        if not isinstance(agent.get(name), int | float):
            raise ConfigurationError(f"[agent] of the suite's file needs a number under {name!r}")
    if agent["kind"] == "demo":
        return demo_script(agent.get("count"))
    files = [data / name for name in agent["questions"]]
    return file_script(files, data / agent["passages"], per_kind=agent.get("per_kind"))


@asynccontextmanager
async def open_store(passages: Sequence[Document], url: str | None = None) -> AsyncIterator[PgVectorStore]:
    """A store of these passages: on a server that is gone afterwards, or where ``url`` says, and then it stays.

    Raises:
        StoreError: the server cannot be started, or the store not be filled.
    """
    stack = ExitStack()

    def fill() -> PgVectorStore:
        if url is not None:
            return stack.enter_context(kept_store(passages, url))
        server = stack.enter_context(temporary(durable=False))
        return stack.enter_context(filled_store(server.url, passages))

    try:
        yield await asyncio.to_thread(fill)
    finally:
        await asyncio.to_thread(stack.close)


def kept_store(passages: Sequence[Document], url: str, *, fill: bool = True) -> PgVectorStore:
    """A store of these passages and no others, in a collection of its own; what is there already is not written again.

    Args:
        passages: also what the embedder is fitted to, so that agent and workers have the same vectors.
        url: of the database.
        fill: False: whoever asks fills it.

    Raises:
        StoreError: the database cannot be reached, or the store not be filled.
    """
    embeddings = HashingEmbeddings(corpus=(passage.page_content for passage in passages))
    store = PgVectorStore(embeddings, url=url, collection=COLLECTION)
    if not fill:
        return store
    try:
        ingest_sync(passages, None, embeddings, store, cleanup="full")
        store.create_index()
    except BaseException:
        store.close()
        raise
    return store


def search_tool(store: PgVectorStore, latency_seconds: float) -> BaseTool:
    """The tool ``search``, which takes ``latency_seconds`` longer than the store does; its artifact is the passages."""

    def search(query: str) -> tuple[str, Any]:
        found = store.similarity_search(query, k=PASSAGES)
        return as_text(found), found

    async def asearch(query: str) -> tuple[str, Any]:
        found = await store.asimilarity_search(query, k=PASSAGES)
        return as_text(found), found

    tool = StructuredTool.from_function(
        search, asearch, name="search", description="Search the passages.", response_format="content_and_artifact"
    )
    return with_latency(tool, latency_seconds) if latency_seconds else tool
