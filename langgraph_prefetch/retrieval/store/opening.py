"""Opening a collection: found where it is, made where it is not, refused where it is another one."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from langgraph_prefetch.errors import ConfigurationError, UnknownCollectionError, did_you_mean
from langgraph_prefetch.passages import Metric
from langgraph_prefetch.retrieval.schema import Collection, CollectionSpec, Storage, find, make, migrate, names
from langgraph_prefetch.retrieval.schema.migration import version
from langgraph_prefetch.retrieval.schema.registry import check_fits
from langgraph_prefetch.retrieval.search import indexes

MAX_TENANT_BYTES = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a store is opened as; see :class:`Setup` for the fields."""

    name: str
    dimensions: int | None
    metric: Metric | None
    storage: Storage | None
    text_search: str | None
    embedder: str | None
    schema: str
    create: bool

    def of(self, there: CollectionSpec | None) -> CollectionSpec:
        """The collection that is wished for: what is left open is as it is there, or the default.

        Raises:
            ConfigurationError: there is none, and nothing says how long its vectors are.
        """
        dimensions = self.dimensions or (there.dimensions if there else None)
        if dimensions is None:
            raise ConfigurationError(
                f"collection {self.name!r} is new: give embeddings, or dimensions= for vectors that come from elsewhere"
            )
        return CollectionSpec(
            name=self.name,
            dimensions=dimensions,
            metric=self.metric or (there.metric if there else "cosine"),
            storage=self.storage or (there.storage if there else "vector"),
            text_search=self.text_search,
            embedder=self.embedder,
        )


def checked_tenant(tenant: str | None) -> str:
    """A tenant as it stands in the database, where the empty text means that there are none.

    Raises:
        ConfigurationError: it is no text of 1 to 256 bytes.
    """
    if tenant is None:
        return ""
    try:
        fits = isinstance(tenant, str) and 1 <= len(tenant.encode()) <= MAX_TENANT_BYTES and "\0" not in tenant
    except UnicodeEncodeError:
        fits = False
    if not fits:
        raise ConfigurationError(
            f"a tenant is text of 1 to {MAX_TENANT_BYTES} bytes, not {tenant!r}; None for a store without tenants"
        )
    return tenant


def opened(connection: sa.Connection, wish: Wish) -> Collection:
    """The collection, in one transaction. Where it is there already nothing is written: a replica will do.

    Raises:
        CollectionMismatchError: it is there, and is another one.
        ConfigurationError: it is not there and not to be made; or it has an index that no search can use.
        ExtensionMissingError: pgvector is missing and cannot be put there.
        SchemaVersionError: a newer version of this package made it.
    """
    there: Collection | None = None
    if wish.create or version(connection, wish.schema) is not None:
        migrate(connection, wish.schema)
        there = find(connection, wish.name, wish.schema)
    if there is None:
        if not wish.create:
            raise _unknown(connection, wish)
        return make(connection, wish.of(None), wish.schema)
    check_fits(there.spec, wish.of(there.spec))
    indexes.check(connection, there)
    return there


def _unknown(connection: sa.Connection, wish: Wish) -> UnknownCollectionError:
    known = [] if version(connection, wish.schema) is None else names(connection, wish.schema)
    return UnknownCollectionError(
        f"no collection {wish.name!r} in schema {wish.schema!r}, and create=False. There are: "
        f"{', '.join(known) or 'none'}.{did_you_mean(wish.name, known)}"
    )
