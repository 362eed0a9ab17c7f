"""Searches, each a function of a connection: what a store runs on its database, blocking or awaited."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from psycopg.pq import Format

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.passages import Neighbourhood
from langgraph_prefetch.retrieval.filters.sql import Expression, expression
from langgraph_prefetch.retrieval.schema import passages
from langgraph_prefetch.retrieval.schema.vectors import decode, encode, takes_binary
from langgraph_prefetch.retrieval.search import statements
from langgraph_prefetch.retrieval.search.paths import fetch
from langgraph_prefetch.retrieval.search.query import Question, words_query
from langgraph_prefetch.retrieval.search.rank import fuse
from langgraph_prefetch.retrieval.search.results import Hit, Nearest

T = TypeVar("T")


def nearest(connection: sa.Connection, question: Question, *, insist: bool = True) -> Nearest:
    """The nearest passages.

    Args:
        connection: outside a transaction: a search is one statement.
        question: what to look for.
        insist: where the index found too few, compare every passage.
    """
    where, exact, iterative = _where(question), question.exact, question.iterative
    if where:
        statement = statements.filtered_nearest(question.collection, where, exact=exact, iterative=iterative)
    else:
        statement = statements.nearest(question.collection, exact=exact, iterative=iterative)
    rows = connection.execute(statement, _parameters(connection, question, fetch(question.k))).all()
    if len(rows) < question.k and not exact and insist:
        return nearest(connection, replace(question, exact=True))
    short = len(rows) < question.k
    hits = tuple(Hit(id=id_, text=text, metadata=data, distance=far) for id_, text, data, far in rows)
    return Nearest(hits=hits, exact=exact, whole=short and exact, possibly_short=short and not exact)


def neighbourhood(connection: sa.Connection, question: Question, *, insist: bool = True) -> Neighbourhood:
    """The nearest passages with their vectors, in one round trip; arguments as of ``nearest``."""
    where, exact, iterative = _where(question), question.exact, question.iterative
    if where:
        statement = statements.neighbourhood(question.collection, where, exact=exact, iterative=iterative)
    else:
        statement = statements.whole_neighbourhood(question.collection, exact=exact, iterative=iterative)
    sa.event.listen(connection, "before_cursor_execute", _binary)
    wanted = fetch(question.k) if where else question.k
    row = connection.execute(statement, _parameters(connection, question, wanted)).one()
    if row.epoch is None:
        raise ConfigurationError(f"collection {question.collection.spec.name!r} was dropped; open the store again")
    ids = _cut(row.ids)
    if len(ids) < question.k and not exact and insist:
        return neighbourhood(connection, replace(question, exact=True))
    spec = question.collection.spec
    anchor = np.array(question.vector)
    anchor.flags.writeable = False
    order = in_order(np.frombuffer(row.distances or b"", ">f8"), ids)
    metadatas = json.loads(f"[{row.metadatas or ''}]")
    return Neighbourhood(
        anchor=anchor,
        ids=_ordered(ids, order),
        texts=_ordered(_cut(row.texts), order),
        metadatas=_ordered(metadatas, order),
        vectors=decode(row.vectors or b"", spec.dimensions, spec.storage, order),
        metric=spec.metric,
        exact=exact,
        whole=exact and len(ids) < question.k,
        epoch=row.epoch,
    )


def hybrid(connection: sa.Connection, question: Question, query: str, k: int, *, insist: bool = True) -> list[Hit]:
    """The ``k`` best of two rankings, by meaning and by words; each hit's distance is its fused score, turned around.

    Args:
        connection: outside a transaction.
        question: what to be near to; its ``k`` is how many of each ranking are fused.
        query: whose words to look for.
        k: how many to return.
        insist: where the index found too few, compare every passage.
    """
    statement = statements.hybrid(
        question.collection, _where(question), exact=question.exact, iterative=question.iterative
    )
    parameters = _parameters(connection, question, fetch(question.k)) | {"query": words_query(query)}
    rows = connection.execute(statement, parameters).all()
    if not question.exact and insist and sum(row.near for row in rows) < question.k:
        return hybrid(connection, replace(question, exact=True), query, k)
    found = {row.id: row for row in rows}
    rankings = [
        [row.id for row in sorted((r for r in rows if r.near is near), key=lambda r: (r.order, r.id))]
        for near in (True, False)
    ]
    return [
        Hit(id=key, text=found[key].text, metadata=found[key].metadata, distance=-score)
        for key, score in fuse(rankings, k)
    ]


def in_order(distances: NDArray[np.float64], ids: Sequence[str]) -> list[int] | None:
    """Positions by distance, equals by id; None where they stand in that order, as the index mostly gives them."""
    if (distances[1:] > distances[:-1]).all():
        return None
    far = distances.tolist()
    return sorted(range(len(ids)), key=lambda at: (far[at], ids[at]))


def _cut(joined: bytes | None) -> Sequence[str]:
    """The texts that were joined; none of no rows."""
    return () if joined is None else joined.decode().split("\0")


def _ordered(values: Sequence[T], order: Sequence[int] | None) -> tuple[T, ...]:
    return tuple(values) if order is None else tuple(values[at] for at in order)


def _where(question: Question) -> tuple[Expression, ...]:
    if question.condition is None:
        return ()
    return (expression(question.condition, passages(question.collection).c.metadata),)


def _parameters(connection: sa.Connection, question: Question, wanted: int) -> dict[str, Any]:
    takes_binary(connection)
    parameters: dict[str, Any] = {
        "anchor": encode(question.vector, question.collection.spec.storage),
        "tenant": question.tenant,
        "k": question.k,
    }
    if not question.exact:
        parameters |= {"ef_search": str(question.ef_search), "fetch": wanted}
    return parameters


def _binary(
    connection: sa.Connection, cursor: Any, statement: str, parameters: Any, context: Any, executemany: bool
) -> None:
    cursor.format = Format.BINARY  # or every byte of the vectors came as two digits
