"""Questions to a collection, checked: a vector with the right length and a direction, a sensible number of rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from langgraph_prefetch.errors import ConfigurationError, WrongVectorsError
from langgraph_prefetch.passages import Metric
from langgraph_prefetch.retrieval.filters import Condition
from langgraph_prefetch.retrieval.schema import Collection, CollectionSpec
from langgraph_prefetch.retrieval.search.paths import MAX_EF_SEARCH, MAX_K
from langgraph_prefetch.retrieval.vector_faults import faulty_vectors

_WORD = re.compile(r"\w[\w'.-]*")
_MOST_WORDS = 64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Question:
    """One search.

    Attributes:
        collection: where to look.
        tenant: whose passages.
        vector: what to be near to.
        k: how many.
        condition: on the metadata; None for all.
        exact: compare every passage.
        ef_search: how many candidates an index search keeps.
        iterative: pgvector can go on until enough are found.
    """

    collection: Collection
    tenant: str
    vector: NDArray[np.float32]
    k: int
    condition: Condition | None
    exact: bool
    ef_search: int
    iterative: bool


def checked_k(name: str, k: int, most: int = MAX_K) -> int:
    """A number of passages to return.

    Raises:
        ConfigurationError: it is no whole number from 1 to ``most``.
    """
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= most:
        raise ConfigurationError(f"{name} must be a whole number from 1 to {most:,}, not {k!r}")
    return int(k)


def checked_ef_search(wanted: int | None) -> int | None:
    """The candidates of an index search, or None.

    Raises:
        ConfigurationError: it is no whole number from 1 to 1,000.
    """
    return None if wanted is None else checked_k("ef_search", wanted, MAX_EF_SEARCH)


def checked_query(query: str) -> str:
    """A text to search with.

    Raises:
        ConfigurationError: it is none, or has nothing in it.
    """
    if not isinstance(query, str) or not query.strip():
        raise ConfigurationError("the query is empty: there is nothing to be near to")
    return query


def checked_vector(vector: Any, spec: CollectionSpec, whose: str = "the embedder's vector") -> NDArray[np.float32]:
    """One vector as float32, shape ``(dimensions,)``.

    Raises:
        WrongVectorsError: it is of another length, not finite, or zero where only directions compare.
    """
    problems, vectors = vector_problems([vector], spec)
    if problems:
        raise WrongVectorsError(f"{whose} {problems[0]}")
    checked: NDArray[np.float32] = vectors[0]
    return checked


def vector_problems(
    vectors: Sequence[Any] | NDArray[Any], spec: CollectionSpec
) -> tuple[dict[int, str], NDArray[np.float32]]:
    """What is wrong with each vector, by position, and all as one array, shape ``(n, dimensions)``.

    The array is of use only where nothing is wrong.
    """
    try:
        array = np.asarray(vectors, np.float32).reshape(len(vectors), -1)
    except (TypeError, ValueError):
        return _ragged(vectors, spec), np.empty((0, spec.dimensions), np.float32)
    if array.shape[1] != spec.dimensions and len(array):
        return dict.fromkeys(range(len(array)), _length(array.shape[1], spec)), array
    problems: dict[int, str] = {}
    for row, reason in faulty_vectors(array, metric=spec.metric, storage=spec.storage):
        problems.setdefault(row, reason)
    return problems, array


def words_query(query: str) -> str:
    """A search for any of a query's words, in the syntax of ``websearch_to_tsquery``; empty where it has none."""
    return " or ".join(_WORD.findall(query)[:_MOST_WORDS])


def relevance(distance: float, metric: Metric) -> float:
    """A distance as LangChain's relevance, from 0 (unlike) to 1 (alike).

    The cosine similarity or the inner product, held to 0…1, or ``1 / (1 + distance)`` for Euclidean distances.
    """
    if metric == "l2":
        return 1 / (1 + distance)
    similarity = 1 - distance if metric == "cosine" else -distance
    return min(1.0, max(0.0, similarity))


def _ragged(vectors: Sequence[Any] | NDArray[Any], spec: CollectionSpec) -> dict[int, str]:
    problems = {}
    for at, each in enumerate(vectors):
        try:
            found = np.asarray(each, np.float32)
        except (TypeError, ValueError):
            problems[at] = f"is {type(each).__name__}, not numbers"
            continue
        if found.shape != (spec.dimensions,):
            problems[at] = _length(found.size, spec)
    return problems or dict.fromkeys(range(len(vectors)), "is not numbers")


def _length(found: int, spec: CollectionSpec) -> str:
    return (
        f"has {found} numbers, and collection {spec.name!r} takes {spec.dimensions}: "
        "was it made for another embedding model?"
    )
