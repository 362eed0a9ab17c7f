"""A collection: passages whose vectors have one length and one metric, in one table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeGuard, get_args

from langgraph_prefetch.errors import ConfigurationError, did_you_mean
from langgraph_prefetch.passages import Metric

Storage = Literal["vector", "halfvec"]
"""Four bytes a number, or two: half the space, about three decimal digits."""

MAX_DIMENSIONS = 16_000
"""What pgvector stores; see ``INDEXABLE`` for what it can index."""
INDEXABLE: dict[Storage, int] = {"vector": 2_000, "halfvec": 4_000}
"""The longest vectors that an HNSW index takes, by storage."""
MAX_NAME = 200
_READABLE = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionSpec:
    """What a collection is to be; what is None is taken as it is where the collection exists already.

    Attributes:
        name: any text of 1 to 200 characters.
        dimensions: the length of the vectors.
        metric: what "nearest" means.
        storage: how the numbers are kept.
        text_search: a text search configuration of the server, such as ``"english"``, for searching words beside
            vectors; None without. It costs ingestion time, so it is off unless asked for.
        embedder: a name for what makes the vectors, to refuse another one's; None to not check.
    """

    name: str
    dimensions: int
    metric: Metric = "cosine"
    storage: Storage = "vector"
    text_search: str | None = None
    embedder: str | None = None

    def __post_init__(self) -> None:
        checked_name(self.name)
        for what, said in (("text_search", self.text_search), ("embedder", self.embedder)):
            if said is not None and not is_storable(said):
                raise ConfigurationError(f"{what} is text without NUL, not {said!r}")
        checked_dimensions(self.dimensions)
        one_of("metric", self.metric, get_args(Metric))
        one_of("storage", self.storage, get_args(Storage))


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """A collection that exists.

    Attributes:
        id: its number in the registry, which no later collection gets.
        spec: what it is.
        schema: the PostgreSQL schema it is in.
        extension_schema: the one that pgvector's types and operators are in.
        vector_oid: the server's number for the type of its vectors.
    """

    id: int
    spec: CollectionSpec
    schema: str
    extension_schema: str
    vector_oid: int

    @property
    def table_name(self) -> str:
        """Readable, and unique by its number whatever the name."""
        readable = re.sub(r"[^a-z0-9]+", "_", self.spec.name.lower())[:_READABLE].strip("_") or "collection"
        return f"prefetch_{readable}_{self.id}"


def checked_name(name: object) -> None:
    """Raise ``ConfigurationError`` unless a collection can be called so."""
    if not is_storable(name) or not 1 <= len(name) <= MAX_NAME:
        raise ConfigurationError(f"a collection's name is text of 1 to {MAX_NAME} characters, not {name!r}")


def checked_dimensions(dimensions: object) -> None:
    """Raise ``ConfigurationError`` unless vectors can have this length."""
    if isinstance(dimensions, bool) or not isinstance(dimensions, int):
        raise ConfigurationError(f"dimensions must be a whole number, not {dimensions!r}")
    if not 1 <= dimensions <= MAX_DIMENSIONS:
        raise ConfigurationError(f"dimensions must be 1 to {MAX_DIMENSIONS:,}, not {dimensions}")


def is_storable(said: object) -> TypeGuard[str]:
    """Whether PostgreSQL can keep it: text without NUL and without half of a surrogate pair."""
    return isinstance(said, str) and not any(each == "\0" or "\ud800" <= each <= "\udfff" for each in said)


def one_of(what: str, value: str, known: tuple[str, ...]) -> None:
    """Raise ``ConfigurationError`` unless ``value`` is one of ``known``."""
    if value not in known:
        meant = did_you_mean(value, known) if isinstance(value, str) else ""
        raise ConfigurationError(f"{what} must be one of {', '.join(known)}, not {value!r}.{meant}")
