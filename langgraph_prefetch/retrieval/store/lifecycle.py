"""A store from its opening to its end: what it stands on, whose it is, and its collection as a whole."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

import sqlalchemy as sa
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore
from typing_extensions import Unpack

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.passages import Metric
from langgraph_prefetch.retrieval import schema
from langgraph_prefetch.retrieval.database import Database
from langgraph_prefetch.retrieval.filters import Condition, parse
from langgraph_prefetch.retrieval.schema import Collection
from langgraph_prefetch.retrieval.schema.collections import INDEXABLE
from langgraph_prefetch.retrieval.search import indexes
from langgraph_prefetch.retrieval.search.searcher import Searcher, SearchOptions
from langgraph_prefetch.retrieval.store import reading
from langgraph_prefetch.retrieval.store.opening import checked_tenant, opened
from langgraph_prefetch.retrieval.store.setup import PROBE, Setup, StoreOptions

T = TypeVar("T")


class OpenStore(VectorStore):
    """One tenant's part of a collection, on a database."""

    _embeddings: Embeddings | None
    _setup: Setup
    _database: Database
    _owner: bool
    _searcher: Searcher

    def __init__(self, embeddings: Embeddings | None = None, **options: Unpack[StoreOptions]) -> None:
        """Open a collection; see :class:`Setup` for the options. Blocks: on an event loop use :meth:`aopen`.

        Args:
            embeddings: any LangChain embedder; None for a store that is only given vectors.
            **options: where and what, see :class:`Setup`.

        Raises:
            CollectionMismatchError: the collection is there, and is another one: of another length, for instance.
            ConfigurationError: an option has no meaning, or an index is there that no search can use.
            ExtensionMissingError: pgvector is missing and cannot be installed.
            ServerUnreachableError: there is no server.
            ReadOnlyServerError: the collection is missing, and the server takes no writes.
        """
        setup = Setup.of(options)
        dimensions = setup.stated_dimensions(embeddings)
        if dimensions is None and embeddings is not None:
            dimensions = len(embeddings.embed_query(PROBE))
        database = setup.database()
        try:
            collection = database.run(partial(opened, wish=setup.wish(dimensions)))
        except BaseException:
            _leave(database, setup)
            raise
        self._stand(embeddings, setup, database, collection)

    @classmethod
    async def aopen(cls, embeddings: Embeddings | None = None, **options: Unpack[StoreOptions]) -> Self:
        """As the constructor, without blocking the event loop."""
        setup = Setup.of(options)
        dimensions = setup.stated_dimensions(embeddings)
        if dimensions is None and embeddings is not None:
            dimensions = len(await embeddings.aembed_query(PROBE))
        database = setup.database()
        try:
            collection = await database.arun(partial(opened, wish=setup.wish(dimensions)))
        except BaseException:
            if database is not setup.url:
                await database.aclose()
            raise
        store = cls.__new__(cls)
        store._stand(embeddings, setup, database, collection)
        return store

    def for_tenant(self, tenant: str | None) -> Self:
        """The same collection for another tenant: made at once, on the same connections, which stay this store's."""
        store = type(self).__new__(type(self))
        store._stand(self._embeddings, self._setup, self._database, self._searcher.collection, checked_tenant(tenant))
        store._owner = False
        return store

    @property
    def embeddings(self) -> Embeddings | None:
        """The embedder."""
        return self._embeddings

    @property
    def database(self) -> Database:
        """What it runs on."""
        return self._database

    @property
    def collection(self) -> Collection:
        """What it searches."""
        return self._searcher.collection

    @property
    def tenant(self) -> str | None:
        """Whose passages these are; None where there are no tenants."""
        return self._searcher.tenant or None

    @property
    def metric(self) -> Metric:
        """What "nearest" means here."""
        return self.collection.spec.metric

    @property
    def dimensions(self) -> int:
        """The length of the vectors."""
        return self.collection.spec.dimensions

    @property
    def can_be_indexed(self) -> bool:
        """Whether vectors of this length and storage are ones that an index takes; see :meth:`create_index`."""
        return self.dimensions <= INDEXABLE[self.collection.spec.storage]

    def epoch(self) -> int:
        """A number that moves whenever the collection's contents change, by whatever process and for any tenant."""
        return self._run(partial(schema.epoch, collection=self.collection))

    async def aepoch(self) -> int:
        """As :meth:`epoch`."""
        return await self._arun(partial(schema.epoch, collection=self.collection))

    def count(self, filter: Any = None) -> int:  # noqa: A002 - LangChain's word for it
        """How many passages there are, of this tenant, that fit the filter."""
        return self._run(self._counting(parse(filter)))

    async def acount(self, filter: Any = None) -> int:  # noqa: A002
        """As :meth:`count`."""
        return await self._arun(self._counting(parse(filter)))

    def create_index(
        self, *, m: int = 16, ef_construction: int = 64, memory_mb: int | None = None, concurrently: bool = False
    ) -> None:
        """Make the HNSW index for the collection's metric and storage, for all tenants; nothing where there is one.

        Faster after the passages are in than before. Without it, searches compare every passage.

        Args:
            m: links of a node, 2 to 100: more find more, take more space and time to build.
            ef_construction: candidates while building, twice ``m`` to 1,000: more find more and build slower.
            memory_mb: for building (``maintenance_work_mem``): it is much faster where the index fits.
            concurrently: let writes go on meanwhile, which takes longer; not together with ``memory_mb``.

        Raises:
            ConfigurationError: the vectors are too long for an index, or a number is out of range.
        """
        self._database.run(self._indexing(m, ef_construction, memory_mb, concurrently), autocommit=concurrently)
        self._searcher.forget()

    async def acreate_index(
        self, *, m: int = 16, ef_construction: int = 64, memory_mb: int | None = None, concurrently: bool = False
    ) -> None:
        """As :meth:`create_index`."""
        await self._database.arun(self._indexing(m, ef_construction, memory_mb, concurrently), autocommit=concurrently)
        self._searcher.forget()

    def create_metadata_index(self) -> None:
        """Make an index for filters of equality and ``$contains``; nothing where there is one."""
        self._database.run(partial(indexes.create_on_metadata, collection=self.collection))

    async def acreate_metadata_index(self) -> None:
        """As :meth:`create_metadata_index`."""
        await self._database.arun(partial(indexes.create_on_metadata, collection=self.collection))

    def drop_index(self) -> None:
        """Remove the index that :meth:`create_index` made."""
        self._database.run(partial(indexes.drop, collection=self.collection))
        self._searcher.forget()

    async def adrop_index(self) -> None:
        """As :meth:`drop_index`."""
        await self._database.arun(partial(indexes.drop, collection=self.collection))
        self._searcher.forget()

    def drop_collection(self) -> None:
        """Remove the collection with the passages of all tenants. The store is of no use afterwards."""
        self._database.run(partial(schema.drop, collection=self.collection))

    async def adrop_collection(self) -> None:
        """As :meth:`drop_collection`."""
        await self._database.arun(partial(schema.drop, collection=self.collection))

    def close(self) -> None:
        """Give up the connections, unless they were given. May be called again."""
        if self._owner:
            self._database.close()

    async def aclose(self) -> None:
        """As :meth:`close`, without blocking the event loop: the last to leave may have to stop a server."""
        if self._owner:
            await self._database.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        spec = self.collection.spec
        return f"{type(self).__name__}({spec.name!r}, {spec.dimensions} numbers, {spec.metric}, on {self._database!r})"

    def _stand(
        self,
        embeddings: Embeddings | None,
        setup: Setup,
        database: Database,
        collection: Collection,
        tenant: str | None = None,
    ) -> None:
        self._embeddings, self._setup, self._database = embeddings, setup, database
        self._owner = database is not setup.url
        whose = checked_tenant(setup.tenant) if tenant is None else tenant
        self._searcher = Searcher(collection, whose, SearchOptions(exact=setup.exact, ef_search=setup.ef_search))

    def _run(self, work: Callable[[sa.Connection], T]) -> T:
        return self._database.run(work, autocommit=True)

    async def _arun(self, work: Callable[[sa.Connection], T]) -> T:
        return await self._database.arun(work, autocommit=True)

    def _counting(self, condition: Condition | None) -> Callable[[sa.Connection], int]:
        return partial(reading.count, collection=self.collection, tenant=self._searcher.tenant, condition=condition)

    def _indexing(
        self, m: int, ef_construction: int, memory_mb: int | None, concurrently: bool
    ) -> Callable[[sa.Connection], None]:
        if not concurrently:
            return partial(
                indexes.create, collection=self.collection, m=m, ef_construction=ef_construction, memory_mb=memory_mb
            )
        if memory_mb is not None:
            raise ConfigurationError(
                "memory_mb is for one transaction, and concurrently works outside of any: drop one"
            )
        return partial(indexes.create_concurrently, collection=self.collection, m=m, ef_construction=ef_construction)


def _leave(database: Database, setup: Setup) -> None:
    if database is not setup.url:
        database.close()
