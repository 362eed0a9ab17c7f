"""What a user says of a tool whose near misses may be answered: what it searches, and what it makes of documents."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.outbound import DESTINATIONS, Destination
from langgraph_prefetch.passages import Metric, NeighbourhoodSource

Searched = NeighbourhoodSource | VectorStore | BaseRetriever
"""What passages can be fetched from."""
SourceOf = Callable[[Mapping[str, Any]], Searched | None]
"""From the run's configurable values to what is searched for this caller; None: no near misses for them."""
Render = Callable[[list[Document]], Any]
"""What the tool returns for these documents: the same as its own function would."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss:
    """Says that a tool is a search for the ``k`` passages of ``source`` that are nearest to its query.

    That is taken on trust for no caller: before anything is served, real calls must have returned what ``render`` makes
    of the source's own answers, and they are compared again for as long as the process lives.

    Attributes:
        source: what the tool searches: a ``PgVectorStore`` or any other
            :class:`~langgraph_prefetch.ports.NeighbourhoodSource`, any LangChain vector store, or a retriever that can
            return many documents. Where it depends on the caller (a tenant, say): a function from the run's
            ``configurable`` values to it.
        embeddings: of queries, and of the passages of a source that keeps its vectors to itself. The store's own if
            None.
        k: how many passages a call returns; None: what the retriever, or the retriever of the tool, says.
        render: what the tool makes of documents: its content, or ``(content, artifact)`` where its response format
            says so. None: found out for tools made by ``create_retriever_tool``; of a retriever it is the documents.
        search_kwargs: passed on to the source's search with every fetch, such as ``{"filter": …}``: what the tool's own
            search is always given.
        n: passages fetched around each anchor.
        anchors: fetches of one model call at most.
        audit_share: of the served calls, so many are searched again in the background, in (0, 1].
        confidence: of the test that opens the likely tier, in (0, 1).
        metric: what "nearest" means to a LangChain vector store, which does not tell; other sources do.
        epoch: tells when the contents of a source that cannot tell it itself have changed; None: they never do.
        norm_bound: for stores that rank by the inner product, a length that no vector exceeds.
        destination: who reads what is embedded: ``"own_store"`` for an embedder of your own, ``"third_party"`` for an
            embedding service, to which no secrets and no planted texts are sent early.
    """

    source: Searched | SourceOf
    embeddings: Embeddings | None = None
    k: int | None = None
    render: Render | None = None
    search_kwargs: Mapping[str, Any] = field(default_factory=dict, hash=False)
    n: int = 500
    anchors: int = 4
    audit_share: float = 0.05
    confidence: float = 0.9
    metric: Metric = "cosine"
    epoch: Callable[[], int] | None = None
    norm_bound: float | None = None
    destination: Destination = "own_store"

    def __post_init__(self) -> None:
        if not isinstance(self.source, NeighbourhoodSource | VectorStore | BaseRetriever) and not callable(self.source):
            raise ConfigurationError(
                f"source takes a PgVectorStore, another vector store or a retriever, not {type(self.source).__name__}: "
                "the passages around a text must be fetched from it"
            )
        if self.embeddings is not None and not isinstance(self.embeddings, Embeddings):
            raise ConfigurationError(f"embeddings takes LangChain Embeddings, not {type(self.embeddings).__name__}")
        for name, value in (("k", self.k), ("n", self.n), ("anchors", self.anchors)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise ConfigurationError(f"{name} must be a whole number from 1 on, not {value!r}")
        if self.k is not None and self.k > self.n:
            raise ConfigurationError(f"n={self.n} passages around an anchor cannot answer a call for k={self.k}")
        for name, share, least_excluded in (
            ("audit_share", self.audit_share, 1.0),
            ("confidence", self.confidence, 0.0),
        ):
            if not _is_number(share) or not (0 < share < 1 or share == least_excluded == 1.0):
                raise ConfigurationError(f"{name} is a share above 0 and up to 1, not {share!r}")
        for name, function in (("render", self.render), ("epoch", self.epoch)):
            if function is not None and not callable(function):
                raise ConfigurationError(f"{name} takes a function, not {function!r}")
        if self.metric not in ("cosine", "l2", "inner_product"):
            raise ConfigurationError(f"metric must be 'cosine', 'l2' or 'inner_product', not {self.metric!r}")
        if self.norm_bound is not None and not (_is_number(self.norm_bound) and 0 < self.norm_bound < math.inf):
            raise ConfigurationError(f"norm_bound must be a length above 0, not {self.norm_bound!r}")
        if self.destination not in DESTINATIONS:
            raise ConfigurationError(f"destination must be 'own_store' or 'third_party', not {self.destination!r}")

    @property
    def embedder(self) -> Embeddings | None:
        """That of the queries: the one given, else that of the source where it has one."""
        if self.embeddings is not None:
            return self.embeddings
        source = self.source
        if isinstance(source, BaseRetriever):
            source = getattr(source, "vectorstore", source)
        found = getattr(source, "embeddings", None)
        return found if isinstance(found, Embeddings) else None

    @property
    def fixed_source(self) -> Searched | None:
        """The source where it is the same for every caller."""
        return self.source if isinstance(self.source, NeighbourhoodSource | VectorStore | BaseRetriever) else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
