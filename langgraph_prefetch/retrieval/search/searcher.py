"""Searches of one tenant's part of a collection, ready to run on a database."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray

from langgraph_prefetch.errors import ConfigurationError, TextSearchOffError, UnknownOptionError
from langgraph_prefetch.passages import Neighbourhood
from langgraph_prefetch.retrieval.filters import Condition, parse
from langgraph_prefetch.retrieval.schema import Collection
from langgraph_prefetch.retrieval.search import run
from langgraph_prefetch.retrieval.search.indexes import facts
from langgraph_prefetch.retrieval.search.paths import MAX_NEIGHBOURS, Facts, ef_search, is_exact
from langgraph_prefetch.retrieval.search.query import Question, checked_ef_search, checked_k, checked_query
from langgraph_prefetch.retrieval.search.results import Hit, Nearest

FACTS_SECONDS = 30.0
"""How long it takes at most until an index that another process made is used."""
HYBRID_CANDIDATES = 50
"""How many of each ranking are fused, at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """How one search differs from others of its store.

    Attributes:
        filter: a condition on the metadata, in either form.
        exact: compare every passage, or go through the index; None: as the store does it.
        ef_search: candidates of an index search, 1 to 1,000: more of them miss less and take longer.
    """

    filter: Mapping[Any, Any] | Condition | None = None
    exact: bool | None = None
    ef_search: int | None = None

    def __post_init__(self) -> None:
        checked_ef_search(self.ef_search)
        if self.exact is not None and not isinstance(self.exact, bool):
            raise ConfigurationError(f"exact must be True, False or None, not {self.exact!r}")

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> SearchOptions:
        """The options among a call's keyword arguments.

        Raises:
            UnknownOptionError: one that there is not.
            ConfigurationError: a tenant, which no call may choose.
        """
        if "tenant" in given:
            raise ConfigurationError(
                "the tenant is the store's, not a call's: open the store with tenant=, or for_tenant()"
            )
        known = [each.name for each in fields(cls)]
        for name in given:
            if name not in known:
                raise UnknownOptionError(name, known)
        return cls(**given)


class Searcher:
    """Makes searches. Each is a function of a connection that is outside a transaction: one statement, as a rule."""

    def __init__(
        self,
        collection: Collection,
        tenant: str,
        defaults: SearchOptions,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.collection, self.tenant, self._defaults, self._clock = collection, tenant, defaults, clock
        self._facts: tuple[float, Facts] | None = None

    def nearest(
        self, vector: NDArray[np.float32], k: int, options: SearchOptions
    ) -> Callable[[sa.Connection], Nearest]:
        """The ``k`` nearest passages."""
        ask = self._asker(vector, checked_k("k", k), options)
        return lambda connection: run.nearest(connection, ask(connection), insist=self._wanted(options) is not False)

    def neighbourhood(
        self, vector: NDArray[np.float32], n: int, options: SearchOptions
    ) -> Callable[[sa.Connection], Neighbourhood]:
        """The ``n`` nearest passages with their vectors."""
        ask = self._asker(vector, checked_k("n", n, MAX_NEIGHBOURS), options)
        insist = self._wanted(options) is not False
        return lambda connection: run.neighbourhood(connection, ask(connection), insist=insist)

    def hybrid(
        self, query: str, vector: NDArray[np.float32], k: int, options: SearchOptions
    ) -> Callable[[sa.Connection], list[Hit]]:
        """The ``k`` best by meaning and by words.

        Raises:
            TextSearchOffError: the collection has no text index.
        """
        if self.collection.spec.text_search is None:
            raise TextSearchOffError(self.collection.spec.name)
        ask = self._asker(vector, max(checked_k("k", k), HYBRID_CANDIDATES), options)
        checked_query(query)
        insist = self._wanted(options) is not False
        return lambda connection: run.hybrid(connection, ask(connection), query, k, insist=insist)

    def forget(self) -> None:
        """Look again, at the next search, at what indexes there are."""
        self._facts = None

    def _wanted(self, options: SearchOptions) -> bool | None:
        return self._defaults.exact if options.exact is None else options.exact

    def _asker(
        self, vector: NDArray[np.float32], k: int, options: SearchOptions
    ) -> Callable[[sa.Connection], Question]:
        condition, wanted = parse(options.filter), self._wanted(options)
        candidates = ef_search(options.ef_search or self._defaults.ef_search, k)

        def ask(connection: sa.Connection) -> Question:
            known = self._known(connection)
            return Question(
                collection=self.collection,
                tenant=self.tenant,
                vector=vector,
                k=k,
                condition=condition,
                exact=is_exact(wanted, known),
                ef_search=candidates,
                iterative=known.iterative,
            )

        return ask

    def _known(self, connection: sa.Connection) -> Facts:
        now, kept = self._clock(), self._facts
        if kept is None or now >= kept[0]:
            kept = now + FACTS_SECONDS, facts(connection, self.collection, self.tenant)
            self._facts = kept
        return kept[1]
