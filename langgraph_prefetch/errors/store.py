"""A passage store that was asked for something it cannot do."""

from __future__ import annotations

from collections.abc import Mapping

from langgraph_prefetch.errors.base import ConfigurationError
from langgraph_prefetch.errors.database import StoreError


class UnknownCollectionError(ConfigurationError):
    """A store is to be opened, not made, and there is no collection of that name; the message lists those there are."""


class CollectionMismatchError(ConfigurationError):
    """A collection exists, and is not what it was opened as.

    Attributes:
        collection: its name.
        what: ``"dimensions"``, ``"metric"``, ``"storage"``, ``"text_search"`` or ``"embedder"``.
        has: what it is there.
        asked: what it was opened as.
    """

    def __init__(self, collection: str, what: str, has: object, asked: object) -> None:
        self.collection, self.what, self.has, self.asked = collection, what, has, asked
        hint = " Was the embedding model changed? Vectors of two models do not compare." if what == "dimensions" else ""
        super().__init__(
            f"collection {collection!r} has {what} {has!r}, and was opened with {asked!r}.{hint} "
            f"Open it with {has!r}, or fill another collection"
        )


class FilterError(ConfigurationError):
    """A metadata filter that has no meaning; the message says where in it, and what would have one."""


class TextSearchOffError(ConfigurationError):
    """Words were searched in a collection that was made without an index of them."""

    def __init__(self, collection: str) -> None:
        self.collection = collection
        super().__init__(
            f"collection {collection!r} has no text index, which costs time at ingestion and so is opt-in: "
            'fill a new collection made with text_search="english" (or another configuration of your server)'
        )


class EmbedderMismatchError(ConfigurationError):
    """The embedder is not the one that made a store's vectors, or makes no use of its text."""


class SchemaVersionError(StoreError):
    """The tables were made by a newer version of this package.

    Attributes:
        schema: the PostgreSQL schema they are in.
        found: the number of their version.
        known: the newest that this version of the package knows.
    """

    def __init__(self, schema: str, found: str, known: str) -> None:
        self.schema, self.found, self.known = schema, found, known
        super().__init__(
            f"the tables in schema {schema!r} are of version {found}, and this package knows up to {known}: "
            "upgrade langgraph-prefetch here, or name another schema"
        )


class WrongVectorsError(StoreError):
    """An embedder gave something else than one finite vector, of the collection's length, for each text."""


class RefusedPassagesError(StoreError):
    """Some of the passages of one call cannot be stored; nothing of the call was written.

    Attributes:
        refused: position in the call -> why.
    """

    def __init__(self, refused: Mapping[int, str]) -> None:
        self.refused = dict(refused)
        shown = "; ".join(f"number {at}: {why}" for at, why in sorted(self.refused.items())[:3])
        more = f"; and {len(self.refused) - 3} more" if len(self.refused) > 3 else ""
        super().__init__(f"{len(self.refused)} passages cannot be stored, so none was written ({shown}{more})")


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]


class ShardError(StoreError):
    """Some of several databases did not answer.

    Attributes:
        failed: name of the shard -> what went wrong.
        shards: how many there are.
    """

    def __init__(self, failed: Mapping[str, BaseException], shards: int) -> None:
        self.failed, self.shards = dict(failed), shards
        # The first line: a database's error goes on with the statement.
        listed = "; ".join(f"{name}: {_first_line(error)}" for name, error in self.failed.items())
        super().__init__(
            f"{len(self.failed)} of {shards} shards did not answer ({listed}). "
            'Without them the answer may be wrong; on_failure="partial" gives what the others have, and says so'
        )
