"""Does the user's embedder speak the store's language? Checked before its vectors are compared with those stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from langgraph_prefetch.errors import EmbedderMismatchError
from langgraph_prefetch.near._numpy import np
from langgraph_prefetch.near.geometry import Floats, Matrix, exact

LEAST_COSINE = 0.98
"""Between a stored vector and the same text embedded again: quantised models differ a little from batch to batch."""
PROBES = ("the first of January", "how to disable dark mode", "a river in the north of Spain")
_SAME = 0.9999


def check_embedder(embed: Callable[[Sequence[str]], Matrix], texts: Sequence[str], stored: Matrix) -> None:
    """Embed a few stored passages again and compare.

    Args:
        embed: the user's embedder.
        texts: what a few passages say (up to eight are used); fewer than one proves nothing.
        stored: their vectors in the store, shape ``(len(texts), dimensions)``.

    Raises:
        EmbedderMismatchError: other dimensions, other directions, numbers that are not finite, vectors of no length,
            or one vector for every text.
    """
    probes = _vectors(embed, PROBES)
    cosines = [float(exact("cosine", probes[:1], each)[0]) for each in probes[1:]]
    if all(each > _SAME for each in cosines):
        raise EmbedderMismatchError(
            "the embedder gives every text the same vector: no answer could depend on its query"
        )
    if not len(texts):
        return
    texts, stored = texts[:8], stored[:8]
    again = _vectors(embed, texts)
    if again.shape != stored.shape:
        raise EmbedderMismatchError(
            f"the embedder's vectors have {again.shape[1]} dimensions and the store's {stored.shape[1]}: "
            "give the embedder that the passages were ingested with"
        )
    likeness = _cosines(again, stored)
    if float(np.median(likeness)) < LEAST_COSINE:
        raise EmbedderMismatchError(
            f"passages embedded again are not where the store has them (cosine {float(np.median(likeness)):.3f}, at "
            f"least {LEAST_COSINE:g} is expected): give the embedder, and the text of a passage, that they were "
            "ingested with"
        )


def _cosines(some: Matrix, others: Matrix) -> Floats:
    return np.array([exact("cosine", one[None, :], other)[0] for one, other in zip(some, others, strict=True)])


def _vectors(embed: Callable[[Sequence[str]], Matrix], texts: Sequence[str]) -> Matrix:
    vectors = np.asarray(embed(texts), dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise EmbedderMismatchError(f"the embedder gave an array of shape {vectors.shape} for {len(texts)} texts")
    if not np.isfinite(vectors).all():
        raise EmbedderMismatchError("the embedder gave numbers that are not finite")
    if not np.square(vectors).sum(axis=1).all():
        raise EmbedderMismatchError("the embedder gave vectors of length 0, which have no direction")
    return vectors
