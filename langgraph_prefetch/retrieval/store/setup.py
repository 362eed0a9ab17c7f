"""How a store is set up: every option, with its default, once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypedDict

import sqlalchemy as sa
from langchain_core.embeddings import Embeddings

from langgraph_prefetch.errors import UnknownOptionError
from langgraph_prefetch.passages import Metric
from langgraph_prefetch.retrieval.database import Database, PoolLimits
from langgraph_prefetch.retrieval.schema import Storage
from langgraph_prefetch.retrieval.schema.collections import checked_dimensions, checked_name
from langgraph_prefetch.retrieval.schema.migration import checked_schema
from langgraph_prefetch.retrieval.search.searcher import SearchOptions
from langgraph_prefetch.retrieval.store.opening import Wish, checked_tenant

PROBE = "How long are the vectors of this model?"


class StoreOptions(TypedDict, total=False):
    """The options of a store, for type checkers; :class:`Setup` says what they mean."""

    url: str | sa.URL | Database
    collection: str
    tenant: str | None
    dimensions: int | None
    metric: Metric | None
    storage: Storage | None
    text_search: str | None
    embedder: str | None
    schema: str
    create: bool
    exact: bool | None
    ef_search: int | None
    limits: PoolLimits | None
    prepared_statements: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The options of a store.

    Attributes:
        url: where the database is: ``postgresql://…``, ``embedded://`` for a server of your own that is started when
            it is needed, or a :class:`Database` that is open, and stays so when the store is closed.
        collection: its name; it is made if there is none.
        tenant: whose passages these are: nobody else's are read, written or deleted. None: there are no tenants.
        dimensions: the length of the vectors; None: the embedder is asked, by embedding one sentence.
        metric: what "nearest" means; None: as the collection was made, cosine for a new one.
        storage: ``"vector"``, or ``"halfvec"`` for half the space; None: as it was made, ``"vector"`` for a new one.
        text_search: make a new collection with an index of its words, in this configuration (``"english"``).
        embedder: a name for the embedding model, kept with the collection; another name is refused.
        schema: the PostgreSQL schema the tables are in; it is made if there is none.
        create: False: only open what exists.
        exact: True: compare every passage; False: use the index, even where that finds too few; None: use the index
            where there is one and much to compare, and compare all where it finds too few.
        ef_search: candidates of an index search, 1 to 1,000; None: 40, and never fewer than are asked for.
        limits: of the connection pool.
        prepared_statements: whether the driver may prepare statements; None: unless a pooler stands between.
    """

    url: str | sa.URL | Database = "embedded://"
    collection: str = "default"
    tenant: str | None = None
    dimensions: int | None = None
    metric: Metric | None = None
    storage: Storage | None = None
    text_search: str | None = None
    embedder: str | None = None
    schema: str = "public"
    create: bool = True
    exact: bool | None = None
    ef_search: int | None = None
    limits: PoolLimits | None = None
    prepared_statements: bool | None = None

    def __post_init__(self) -> None:
        checked_tenant(self.tenant)
        checked_name(self.collection)
        checked_schema(self.schema)
        if self.dimensions is not None:
            checked_dimensions(self.dimensions)
        SearchOptions(exact=self.exact, ef_search=self.ef_search)

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Setup:
        """From keyword arguments.

        Raises:
            UnknownOptionError: one that there is not.
            ConfigurationError: one that has no meaning.
        """
        known = [each.name for each in fields(cls)]
        for name in options:
            if name not in known:
                raise UnknownOptionError(name, known)
        return cls(**options)

    def database(self) -> Database:
        """The database; one of the store's own unless one was given."""
        if isinstance(self.url, Database):
            return self.url
        return Database.open(self.url, limits=self.limits, prepared_statements=self.prepared_statements)

    def wish(self, dimensions: int | None) -> Wish:
        """The collection as it is to be opened."""
        return Wish(
            name=self.collection,
            dimensions=dimensions,
            metric=self.metric,
            storage=self.storage,
            text_search=self.text_search,
            embedder=self.embedder,
            schema=self.schema,
            create=self.create,
        )

    def stated_dimensions(self, embeddings: Embeddings | None) -> int | None:
        """The length of the vectors where it is given or the embedder states it; None: it has to be tried."""
        stated = getattr(embeddings, "dimensions", None) if self.dimensions is None else self.dimensions
        return stated if isinstance(stated, int) else None
