"""The gate's memory: what became of each tool's guesses, by kind and scope. A locked, bounded shell over `gate`."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from cachetools import LRUCache

from langgraph_prefetch.config import PrefetchOptions, ToolPolicy
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.speculation.gate import Account, Terms, Verdict, Weighing, weigh, weigh_sealed
from langgraph_prefetch.speculation.posterior import DEFAULT_SECONDS, Seen

MAX_KINDS = 4_096
"""Kinds of guesses remembered, over all tools and scopes; beyond it the least recently used is forgotten."""
MAX_BOOKS = 1_024
"""Tools remembered, each once for each scope."""


_NOTHING = Seen()


@dataclass(frozen=True, slots=True)
class Book:
    """One tool in one scope: its guesses of every kind, and its account."""

    seen: Seen
    account: Account


_BLANK = Book(_NOTHING, Account())


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A guess that was weighed, until its end is known.

    Attributes:
        weighing: the decision and its numbers.
        reserved: it counts as under way in its tool's account.
    """

    weighing: Weighing
    tool: Hashable
    kind: Hashable
    probability: float
    terms: Terms | None
    reserved: bool


class Experience:
    """Weighs guesses and learns from each one's end, started or not. Equal orders of events give equal decisions.

    Safe for threads; the lock is held for a few steps of arithmetic.
    """

    def __init__(self) -> None:
        self._lock = ForkSafeLock()
        self._books: LRUCache[Hashable, Book] = LRUCache(MAX_BOOKS)
        self._kinds: LRUCache[Hashable, Seen] = LRUCache(MAX_KINDS)

    def weigh(
        self,
        policy: ToolPolicy,
        kind: str,
        scope: Hashable | None,
        probability: float,
        options: PrefetchOptions,
        typical: float | None,
    ) -> Decided:
        """Decide on one guess; a decision for a start holds its price in reserve until :meth:`learn` or :meth:`drop`.

        Args:
            policy: its tool's.
            kind: what kind of guess it is; each kind has a record of its own.
            scope: whose traffic it is, where a scope is set.
            probability: what it says of itself.
            options: the prefetcher's; they say what a second is worth.
            typical: how long the tool's retrievals take, in seconds; None if unknown.
        """
        terms = terms_of(options, policy)
        tool = (policy.name, scope)
        with self._lock:
            book = self._books.get(tool) or _BLANK
            weighing = weigh(
                probability,
                terms,
                tool=book.seen,
                kind=self._kinds.get((tool, kind)) or _NOTHING,
                account=book.account,
                expected_seconds=DEFAULT_SECONDS if typical is None else typical,
            )
            reserved = weighing.verdict is Verdict.START
            if reserved:
                self._books[tool] = replace(book, account=book.account.begun())
        return Decided(weighing=weighing, tool=tool, kind=kind, probability=probability, terms=terms, reserved=reserved)

    def learn(self, decided: Decided, *, right: bool, seconds: float = 0.0) -> None:
        """The end of a guess is known. ``seconds``: what it hid, or would have, if it was right."""
        key = (decided.tool, decided.kind)
        with self._lock:
            book = self._books.get(decided.tool) or _BLANK
            account = book.account.taken_back() if decided.reserved else book.account
            if decided.terms is not None and decided.weighing.worth_it:
                account = account.booked(decided.terms, right=right, seconds=seconds)
            seen = book.seen.plus(decided.probability, right=right, seconds=seconds)
            self._books[decided.tool] = Book(seen, account)
            kind = self._kinds.get(key) or _NOTHING
            self._kinds[key] = kind.plus(decided.probability, right=right, seconds=seconds)

    def drop(self, decided: Decided) -> None:
        """Nothing is to be learned from this one: it was stopped from outside."""
        if decided.reserved:
            with self._lock:
                book = self._books.get(decided.tool) or _BLANK
                self._books[decided.tool] = replace(book, account=book.account.taken_back())


def sealed(policy: ToolPolicy, options: PrefetchOptions, typical: float | None) -> Weighing:
    """The numbers of a call whose arguments have closed; it always passes."""
    return weigh_sealed(terms_of(options, policy), DEFAULT_SECONDS if typical is None else typical)


def terms_of(options: PrefetchOptions, policy: ToolPolicy) -> Terms | None:
    """What a tool's speculations cost and bring; None where the user gave no value of a second."""
    if options.value_of_second is None:
        return None
    return Terms(policy.price_in(options.value_of_second), options.value_of_second.amount)
