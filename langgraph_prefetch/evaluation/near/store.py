"""The passages of a replay, embedded into an exact store in memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph_prefetch.evaluation.near.corpus import read_corpus
from langgraph_prefetch.evaluation.near.vectors import Vectors
from langgraph_prefetch.near._numpy import np
from langgraph_prefetch.near.embedding import check_embedder
from langgraph_prefetch.near.geometry import Matrix
from langgraph_prefetch.near.source import MemorySource
from langgraph_prefetch.retrieval.embedders import embedder


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """What is searched.

    Attributes:
        texts: of the passages.
        source: their vectors; ids are rows of ``texts``, in decimals of equal width.
        vectors: of any text.
        identity: the embedder's.
    """

    texts: tuple[str, ...]
    source: MemorySource
    vectors: Vectors
    identity: str


def open_store(
    corpus: Sequence[str], name: str, cache: Path | None, on_text: Callable[[int], None] = lambda count: None
) -> Store:
    """Read and embed.

    Args:
        corpus: files of passages.
        name: an embedder's name, or ``module:object``.
        cache: a folder for vectors; None for none.
        on_text: called with how many texts have just been embedded.

    Raises:
        TraceFileError: a file cannot be read.
        ConfigurationError: there is no such embedder, or it is of no use.
        MissingExtraError: it needs a library that is not installed.
    """
    texts = read_corpus(corpus)
    made = embedder(name)
    embed = as_matrix_of(made)
    identity = str(getattr(made, "identity", name))
    vectors = Vectors(embed, file=cache_file(cache, identity), on_text=on_text)
    stored = vectors.of(texts)
    check_embedder(embed, texts[:4], stored[:4])
    width = len(str(len(texts)))
    source = MemorySource([f"{row:0{width}d}" for row in range(len(texts))], stored, texts=texts)
    return Store(texts=texts, source=source, vectors=vectors, identity=identity)


def as_matrix_of(made: Any) -> Callable[[Sequence[str]], Matrix]:
    """An embedder as a function from texts to one array."""
    as_matrix = getattr(made, "embed_matrix", None)
    if as_matrix is not None:
        return lambda texts: np.asarray(as_matrix(texts), dtype=np.float32)
    return lambda texts: np.array(made.embed_documents(list(texts)), dtype=np.float32)


def cache_file(folder: Path | None, identity: str) -> Path | None:
    """Where an embedder's vectors are kept, so that those of two are never mixed."""
    return None if folder is None else folder / f"{re.sub(r'[^A-Za-z0-9.-]+', '-', identity)}.npz"
