"""Passages with made vectors."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

DIMENSIONS = 8


def unit(count: int, seed: int = 1, dimensions: int = DIMENSIONS) -> NDArray[np.float32]:
    """That many directions."""
    vectors = np.random.default_rng(seed).standard_normal((count, dimensions))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


class Given(Embeddings):
    """Vectors by text; of a text it does not know, the first number is its length."""

    def __init__(self, vectors: dict[str, Any] | None = None, dimensions: int = DIMENSIONS) -> None:
        self.vectors, self.size = vectors or {}, dimensions

    def embed_documents(self, texts: Sequence[str]) -> list[Any]:
        return [self.embed_query(each) for each in texts]

    def embed_query(self, text: str) -> Any:
        return self.vectors.get(text, [float(len(text)), *[1.0] * (self.size - 1)])


def numbered(vectors: Iterable[Any], start: int = 0) -> dict[str, Any]:
    """A text for each vector."""
    return {f"passage {at}": vector for at, vector in enumerate(vectors, start)}
