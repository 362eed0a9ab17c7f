"""What the embedders here share: whole batches as one array, and vectors that cosine can always compare."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from langchain_core.embeddings import Embeddings

from langgraph_prefetch.errors import MissingExtraError

try:
    import numpy as np
    from numpy.typing import NDArray
except ImportError as error:
    raise MissingExtraError("numpy", "near") from error


class UnitEmbeddings(Embeddings):
    """LangChain embeddings of unit length, made from an array for a whole batch.

    Every vector has length 1. A text in which an embedder finds nothing to go by, an empty one above all, gets a vector
    as well, always the same: it is no error, and it is near to nothing in particular.
    """

    @property
    @abstractmethod
    def identity(self) -> str:
        """Equal for two embedders only if they give every text the same vector."""

    @property
    @abstractmethod
    def dimensions(self) -> int:
        """The length of a vector."""

    @abstractmethod
    def embed_matrix(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of texts, shape ``(len(texts), dimensions)``, C-contiguous; from any number of threads."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """The vectors as lists, as LangChain wants them."""
        made: list[list[float]] = self.embed_matrix(texts).tolist()
        return made

    def embed_query(self, text: str) -> list[float]:
        """The vector of a query, the same as that of an equal document."""
        return self.embed_documents([text])[0]


def to_unit_length(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Vectors scaled to length 1, in place; one of length 0, or not finite, becomes the first axis."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    empty = ~((lengths > 0) & np.isfinite(lengths))
    if empty.any():
        vectors[empty] = 0.0
        vectors[empty, 0] = 1.0
        lengths[empty] = 1.0
    vectors /= lengths[:, None].astype(np.float32)
    return vectors
