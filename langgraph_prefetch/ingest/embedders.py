"""Whatever embeds texts, as one thing: LangChain's embeddings, ours, and plain functions."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.embeddings import Embeddings

from langgraph_prefetch.errors import ConfigurationError, MissingExtraError
from langgraph_prefetch.ports import MatrixEmbedder

try:
    import numpy as np
    from numpy.typing import NDArray
except ImportError as error:
    raise MissingExtraError("numpy", "ingest") from error

Vectors = Any
"""What an embedder gives back: an array of shape ``(n, dimensions)``, or a list of ``n`` lists of numbers."""

_TELLING = ("model", "model_name", "model_id", "deployment", "deployment_name", "dimensions", "size", "normalize")
_TOLD = (str, int, float, bool)


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedder:
    """How to call an embedder.

    Attributes:
        identity: equal for two embedders only if they give every text the same vector.
        blocking: called on a thread; exactly one of this and ``coroutine`` is set.
        coroutine: awaited on the caller's loop.
    """

    identity: str
    blocking: Callable[[Sequence[str]], Vectors] | None = None
    coroutine: Callable[[Sequence[str]], Awaitable[Vectors]] | None = None

    def call(self, texts: Sequence[str]) -> Vectors:
        """Call it where there is no loop; a coroutine gets one of its own."""
        if self.blocking is not None:
            return self.blocking(texts)
        assert self.coroutine is not None
        return asyncio.run(_awaited(self.coroutine(texts)))


def as_embedder(given: Any, identity: str | None = None) -> Embedder:
    """An embedder of any kind.

    Args:
        given: a LangChain ``Embeddings``, one of ours, or a function of a sequence of texts, async or not, that returns
            a matrix.
        identity: see ``Embedder``; found out where not given, from its class and the model it names.

    Raises:
        ConfigurationError: it is none of these.
    """
    name = identity or _identity(given)
    if isinstance(given, MatrixEmbedder):
        return Embedder(identity=name, blocking=given.embed_matrix)
    if isinstance(given, Embeddings):
        if type(given).aembed_documents is not Embeddings.aembed_documents:  # the inherited one only borrows a thread
            return Embedder(identity=name, coroutine=lambda texts: given.aembed_documents(list(texts)))
        return Embedder(identity=name, blocking=lambda texts: given.embed_documents(list(texts)))
    if callable(given) and not isinstance(given, type):
        if inspect.iscoroutinefunction(given) or inspect.iscoroutinefunction(getattr(given, "__call__", None)):  # noqa: B004
            return Embedder(identity=name, coroutine=given)
        return Embedder(identity=name, blocking=given)
    raise ConfigurationError(
        f"embed takes a LangChain Embeddings or a function of a list of texts, not {type(given).__name__}"
    )


def _identity(given: Any) -> str:
    if isinstance(told := getattr(given, "identity", None), str):
        return told
    of = given if hasattr(given, "__qualname__") else type(given)
    facts = [f"{each}={value!r}" for each in _TELLING if isinstance(value := getattr(given, each, None), _TOLD)]
    return f"{of.__module__}.{of.__qualname__}({', '.join(facts)})"


def as_matrix(given: Vectors, texts: int) -> NDArray[np.float32]:
    """Vectors as one array, shape ``(texts, dimensions)``, float32 and C-contiguous; as they are, if they are that.

    Raises:
        VectorsError: they are not one vector of one length for each text.
    """
    try:
        matrix = np.ascontiguousarray(given, dtype=np.float32)
    except (ValueError, TypeError) as error:
        raise VectorsError("vectors of different lengths, or of something else than numbers") from error
    if matrix.ndim != 2 or len(matrix) != texts:
        got = f"{len(matrix)} vectors" if matrix.ndim == 2 else f"an array of {matrix.ndim} dimensions"
        raise VectorsError(f"{got} for {texts} texts")
    return matrix


class VectorsError(Exception):
    """What an embedder gave is not one vector for each text; asking again would not help."""


async def _awaited(given: Awaitable[Vectors]) -> Vectors:
    return await given
