"""Adding passages: all that can be refused is refused before anything is embedded or written."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from langgraph_prefetch.errors import ConfigurationError, RefusedPassagesError, WrongVectorsError
from langgraph_prefetch.retrieval.schema import Collection, CollectionSpec
from langgraph_prefetch.retrieval.schema.tables import qualified, quoted, vector_type
from langgraph_prefetch.retrieval.schema.vectors import encode_array, takes_binary
from langgraph_prefetch.retrieval.search.query import vector_problems

MAX_ID_BYTES = 1_024
MAX_TEXT_BYTES = 64 << 20
_ESCAPED_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Passages that can be stored.

    Attributes:
        ids: for each passage of the call, its key.
        rows: the positions of those to write: of equal ones only the first.
        texts: of those to write.
        metadatas: of those to write, as JSON.
    """

    ids: tuple[str, ...]
    rows: tuple[int, ...]
    texts: tuple[str, ...]
    metadatas: tuple[str, ...]


def batch(texts: Sequence[Any], metadatas: Sequence[Any] | None, ids: Sequence[str | None] | None) -> Batch:
    """Check what can be checked without vectors. Who has no id gets one.

    Raises:
        ConfigurationError: there are not as many ids or metadata as texts.
        RefusedPassagesError: some cannot be stored; it says of each why.
    """
    for what, given in (("metadatas", metadatas), ("ids", ids)):
        if given is not None and len(given) != len(texts):
            raise ConfigurationError(f"{len(texts)} texts with {len(given)} {what}: give one for each text, or none")
    refused: dict[int, str] = {}
    keys: list[str] = []
    written: dict[str, tuple[int, str, str]] = {}
    for at, text in enumerate(texts):
        given_id, data = ids[at] if ids else None, metadatas[at] if metadatas else {}
        key = str(uuid.uuid4()) if given_id is None else given_id
        problem, dumped = _problem(key, text, data)
        if problem is None and key in written and written[key][1:] != (text, dumped):
            problem = f"has the id {key!r} of number {written[key][0]} and says something else"
        if problem is not None:
            refused[at] = problem
            continue
        keys.append(key)
        written.setdefault(key, (at, text, dumped))
    if refused:
        raise RefusedPassagesError(refused)
    rows = tuple(written.values())
    return Batch(
        ids=tuple(keys),
        rows=tuple(row[0] for row in rows),
        texts=tuple(row[1] for row in rows),
        metadatas=tuple(row[2] for row in rows),
    )


def counted(vectors: Any, texts: int) -> Any:
    """What an embedder gave for so many texts.

    Raises:
        WrongVectorsError: it is no list, or there are more or fewer vectors than texts.
    """
    try:
        count = len(vectors)
    except TypeError:
        raise WrongVectorsError(f"the embedder gave {type(vectors).__name__}, not a list of vectors") from None
    if count != texts:
        raise WrongVectorsError(
            f"the embedder gave {count} vectors for {texts} texts: which belongs to which cannot be told"
        )
    return vectors


def checked_vectors(vectors: Sequence[Any], wanted: Batch, spec: CollectionSpec) -> NDArray[np.float32]:
    """The vectors of a batch's texts, shape ``(n, dimensions)``.

    Raises:
        WrongVectorsError: all are wrong in the same way, of another length for instance.
        RefusedPassagesError: some are wrong; it says of each why.
    """
    problems, array = vector_problems(vectors, spec)
    if len(problems) == len(vectors) and len(set(problems.values())) == 1:
        raise WrongVectorsError(f"each vector of the embedder {problems[0]}")
    if problems:
        raise RefusedPassagesError({wanted.rows[at]: f"its vector {why}" for at, why in problems.items()})
    return array


def upsert(
    connection: sa.Connection, collection: Collection, tenant: str, wanted: Batch, vectors: NDArray[np.float32]
) -> None:
    """Insert the passages, or replace those that stand there with another content: one statement, all or none."""
    takes_binary(connection)
    keys = [wanted.ids[at] for at in wanted.rows]
    connection.exec_driver_sql(
        _upsert(collection),
        {
            "tenant": tenant,
            "ids": keys,
            "texts": list(wanted.texts),
            "metadatas": list(wanted.metadatas),
            "vectors": encode_array(vectors, collection.spec.storage, collection.vector_oid),
        },
    )


@lru_cache(maxsize=256)
def _upsert(collection: Collection) -> str:
    # In the order of their keys, so that two writers wait for each other instead of both for ever.
    unequal = f"operator({quoted(collection.extension_schema)}.<>)"
    return f"""
insert into {qualified(collection)} as old (tenant, id, text, metadata, embedding)
select %(tenant)s, new.id, new.text, new.metadata::jsonb, new.embedding
from unnest(%(ids)b::text[], %(texts)b::text[], %(metadatas)b::text[], %(vectors)b::{vector_type(collection)}[])
    as new (id, text, metadata, embedding)
order by new.id collate "C"
on conflict (tenant, id) do update
set text = excluded.text, metadata = excluded.metadata, embedding = excluded.embedding, content_hash = null
where old.text is distinct from excluded.text or old.metadata is distinct from excluded.metadata
    or old.embedding {unequal} excluded.embedding
"""  # noqa: S608 - of names that are quoted


def _problem(key: Any, text: Any, data: Any) -> tuple[str | None, str]:
    if not isinstance(key, str) or not key:
        return f"has the id {key!r}, which is no text", ""
    if not isinstance(text, str):
        return f"is {type(text).__name__}, not text", ""
    if not isinstance(data, dict) or not all(isinstance(each, str) for each in data):
        return "has metadata that is no mapping of texts to values", ""
    try:
        dumped = json.dumps(data, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        return f"has metadata that is not JSON ({error})", ""
    if "\0" in text or "\0" in key or _ESCAPED_NUL.search(dumped):
        return "has a NUL character, which PostgreSQL does not store: remove it", ""
    try:
        sizes = len(key.encode()), len(text.encode()), len(dumped.encode())
    except UnicodeEncodeError:
        return "has half of a surrogate pair, which is no character", ""
    most_bytes = MAX_ID_BYTES, MAX_TEXT_BYTES, MAX_TEXT_BYTES
    for what, size, most in zip(("id", "text", "metadata"), sizes, most_bytes, strict=True):
        if size > most:
            return f"has {what} of {size:,} bytes; there is room for {most:,}", ""
    return None, dumped
