"""Sets of vectors, kind and unkind, and a plain search over them to compare with."""

import re
import zlib
from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from langgraph_prefetch.near.source import MemorySource
from langgraph_prefetch.passages import Metric

Array = NDArray[np.float32]
METRICS: tuple[Metric, ...] = ("cosine", "l2", "inner_product")


def kinds_of_vectors(rng: np.random.Generator, kind: str, count: int, dimensions: int) -> Array:
    """``count`` vectors; of each kind some that are equal, or nearly."""
    match kind:
        case "random":
            found = rng.normal(size=(count, dimensions))
        case "clusters":
            found = rng.normal(size=(4, dimensions))[rng.integers(0, 4, count)]
            found = found + 0.1 * rng.normal(size=(count, dimensions))
        case "hubs":  # a few that are near to everything
            found = rng.normal(size=(count, dimensions)) + 2.0
            found[: count // 8] = 1.0
        case "grid":  # many exact ties
            found = rng.integers(-1, 2, size=(count, dimensions)).astype(float) + 0.0
            found[~found.any(axis=1)] = 1.0
        case "duplicates":
            found = rng.normal(size=(max(2, count // 6), dimensions))[rng.integers(0, max(2, count // 6), count)]
        case "hairs":  # differences about as small as a float shows
            found = np.ones((count, dimensions)) + rng.normal(size=(count, dimensions)) * 1e-6
        case "lengths":  # directions alike, lengths far apart
            found = rng.normal(size=(count, dimensions)) * 10.0 ** rng.uniform(-2, 2, size=(count, 1))
        case _:
            raise ValueError(kind)
    return np.ascontiguousarray(found, dtype=np.float32)


KINDS = ("random", "clusters", "hubs", "grid", "duplicates", "hairs", "lengths")


def names(count: int) -> list[str]:
    return [f"p{at:05d}" for at in range(count)]


def searched(metric: Metric, ids: Sequence[str], vectors: Array, query: Array, k: int) -> tuple[str, ...]:
    """A search that shares no code with the package: one passage after the other, in Python's own floats."""

    def far(row: Array) -> float:
        pairs = [(float(one), float(other)) for one, other in zip(row, query, strict=True)]
        if metric == "l2":
            return sum((one - other) ** 2 for one, other in pairs)
        product = sum(one * other for one, other in pairs)
        if metric == "inner_product":
            return -product
        lengths = sum(one * one for one, _ in pairs) ** 0.5 * sum(other * other for _, other in pairs) ** 0.5
        return -product / lengths if lengths else float("inf")

    return tuple(sorted(ids, key=lambda name: (far(vectors[ids.index(name)]), name))[:k])


def as_stored_in_floats(metric: Metric, ids: Sequence[str], vectors: Array, query: Array, k: int) -> tuple[str, ...]:
    """A search in 32-bit floats throughout, summed one by one as a database does: what rounding can do to an order."""
    totals = np.zeros(len(vectors), dtype=np.float32)
    squares = np.zeros(len(vectors), dtype=np.float32)
    own = np.float32(0)
    for at in range(vectors.shape[1]):
        column = vectors[:, at]
        if metric == "l2":
            totals += (column - query[at]) * (column - query[at])
            continue
        totals += column * query[at]
        squares += column * column
        own += query[at] * query[at]
    far = totals.astype(np.float64)
    if metric == "inner_product":
        far = -far
    elif metric == "cosine":
        far = 1.0 - far / np.sqrt(squares.astype(np.float64) * float(own))
    return tuple(sorted(ids, key=lambda name: (far[ids.index(name)], name))[:k])


def store(metric: Metric, vectors: Array) -> MemorySource:
    return MemorySource(names(len(vectors)), vectors, metric=metric)


seeds = st.integers(0, 2**32 - 1)


def hashed(texts: Sequence[str], dimensions: int = 256) -> Array:
    """Words hashed into buckets: texts with words in common are near each other."""
    found = np.zeros((len(texts), dimensions), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in re.findall(r"\w+", text.lower()):
            found[row, zlib.crc32(word.encode()) % dimensions] += 1
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found
