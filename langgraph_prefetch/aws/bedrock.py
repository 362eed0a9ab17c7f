"""Bedrock's retrievers and embeddings on threads of their own. Needs the extra ``aws``.

Their async forms run on the event loop's default threads (on a machine of two cores there are six), which every
``ChatBedrockConverse`` call of the process holds for as long as its model speaks: a search would wait for a model.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar, overload

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from pydantic import SkipValidation

from langgraph_prefetch.aws.bedrock_pools import pool as new_pool
from langgraph_prefetch.aws.threads import Threads
from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.errors import ConfigurationError

Result = TypeVar("Result")

MAX_THREADS = 16


@overload
def own_threads(blocking: BaseRetriever, threads: int = MAX_THREADS) -> BaseRetriever: ...


@overload
def own_threads(blocking: Embeddings, threads: int = MAX_THREADS) -> Embeddings: ...


def own_threads(blocking: BaseRetriever | Embeddings, threads: int = MAX_THREADS) -> BaseRetriever | Embeddings:
    """The same retriever or embeddings, whose async calls never wait for the event loop's default threads.

    Args:
        blocking: ``AmazonKnowledgeBasesRetriever``, ``BedrockEmbeddings``, or another whose client blocks.
        threads: calls at once; more wait. boto3's ``max_pool_connections`` should be no less.

    Raises:
        ConfigurationError: something that is neither, or fewer than one thread.
    """
    require_at_least("threads", threads, 1)
    pool = new_pool(type(blocking).__name__, threads)
    if isinstance(blocking, BaseRetriever):
        return OwnThreadsRetriever(
            name=blocking.get_name(), tags=blocking.tags, metadata=blocking.metadata, inner=blocking, threads=pool
        )
    if isinstance(blocking, Embeddings):
        return OwnThreadsEmbeddings(blocking, pool)
    raise ConfigurationError(f"own_threads() takes a LangChain retriever or embeddings, not {type(blocking).__name__}")


class OwnThreadsRetriever(BaseRetriever):
    """A retriever whose async form runs on its own threads. Made by :func:`own_threads`."""

    inner: SkipValidation[BaseRetriever]
    threads: SkipValidation[Threads]

    def _get_ls_params(self, **kwargs: Any) -> Any:
        return self.inner._get_ls_params(**kwargs)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return self.inner._get_relevant_documents(query, run_manager=run_manager)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        find = partial(self.inner._get_relevant_documents, query, run_manager=run_manager.get_sync())
        return await _on(self.threads, find)


class OwnThreadsEmbeddings(Embeddings):
    """Embeddings whose async form runs on its own threads. Made by :func:`own_threads`."""

    def __init__(self, inner: Embeddings, threads: Threads) -> None:
        self.inner, self._threads = inner, threads

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """As the inner one."""
        return self.inner.embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        """As the inner one."""
        return self.inner.embed_query(text)

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """The inner one's, on a thread of ours."""
        return await _on(self._threads, partial(self.inner.embed_documents, texts))

    async def aembed_query(self, text: str) -> list[float]:
        """The inner one's, on a thread of ours."""
        return await _on(self._threads, partial(self.inner.embed_query, text))


async def _on(threads: Threads, call: Callable[[], Result]) -> Result:
    context = copy_context()
    return await threads.run(lambda: context.run(call))
