"""Does the embedder speak the source's language? A few passages that were fetched are embedded again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from langchain_core.embeddings import Embeddings

from langgraph_prefetch.graph.near.sources import Loop, has_own_async
from langgraph_prefetch.near._numpy import np
from langgraph_prefetch.near.embedding import check_embedder
from langgraph_prefetch.near.geometry import Matrix
from langgraph_prefetch.passages import Neighbourhood


def check(embeddings: Embeddings, found: Neighbourhood, loop: Loop) -> None:
    """Compare. Blocks; an async embedder works on ``loop``.

    Raises:
        EmbedderMismatchError: they differ, or the embedder makes no use of its text.
    """

    def embed(texts: Sequence[str]) -> Matrix:
        if loop is not None and has_own_async(embeddings):
            made = asyncio.run_coroutine_threadsafe(embeddings.aembed_documents(list(texts)), loop).result()
        else:
            made = embeddings.embed_documents(list(texts))
        return np.asarray(made, dtype=np.float32)

    check_embedder(embed, found.texts[:8], found.vectors[:8])
