"""Earlier results of the same tool, caller and scope, as guesses of what a call will return. They answer nothing."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from cachetools import LRUCache

from langgraph_prefetch.guesses import Asked, ResultGuess, Tell
from langgraph_prefetch.keys import Encoded, Scope, SearchKey, encode_arguments
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.speculation.cache import snapshot
from langgraph_prefetch.values import Output

MAX_GROUPS = 256
"""Tools of one caller and scope that are remembered; beyond it the least recently used is forgotten."""
MAX_RESULTS = 64
"""Results remembered of each."""

STALE, SIMILAR = "stale", "similar"
P_STALE = 0.8
"""The same call earlier: whatever ran since may have changed what it returns."""
P_SIMILAR = 0.6
"""Times the similarity of the two queries."""
LEAST_SIMILARITY = 0.5

_WORD = re.compile(r"\w+")


class EarlierResult:
    """One result. ``output`` is in the form in which the agent saw it, as far as that is known."""

    __slots__ = ("key", "others", "output", "query")

    def __init__(self, key: SearchKey, query: str | None, others: Encoded | None, output: Output) -> None:
        self.key, self.query, self.others, self.output = key, query, others, output


class EarlierResults:
    """A :class:`~langgraph_prefetch.guesses.ResultGuesser`. Safe for threads; bounded in number."""

    def __init__(self) -> None:
        self._lock = ForkSafeLock()
        self._groups: LRUCache[tuple[Any, ...], deque[EarlierResult]] = LRUCache(MAX_GROUPS)

    def keep(
        self, key: SearchKey, arguments: Mapping[str, Any], query: str | None, output: Output
    ) -> EarlierResult | None:
        """One more result, in place of an older one of the same call; None if it cannot be copied."""
        kept = snapshot(output)
        if kept is None:
            return None
        result = EarlierResult(key, query, others_of(arguments, query), kept)
        with self._lock:
            group = self._groups.get(group_of(key))
            held = [each for each in group or () if each.key != key]
            self._groups[group_of(key)] = deque((*held, result), MAX_RESULTS)
        return result

    def forget(self, scope: Scope) -> None:
        """The scope's run is over."""
        with self._lock:
            for name in [name for name in self._groups if name[-1] == scope]:
                del self._groups[name]

    def of(self, key: SearchKey) -> tuple[EarlierResult, ...]:
        """Those of the same tool, caller and scope, the latest last."""
        with self._lock:
            return tuple(self._groups.get(group_of(key)) or ())

    def guess(self, asked: Asked, tell: Tell) -> None:
        """The same call's earlier result, else that of the query most like it."""
        tell(best_guess(asked, self.of(asked.key)))


def best_guess(asked: Asked, earlier: Iterable[EarlierResult]) -> ResultGuess | None:
    """The best of the ``earlier`` results of the same tool, caller and scope. Pure."""
    others = others_of(asked.arguments, asked.query)
    best: tuple[float, EarlierResult] | None = None
    for each in earlier:
        if each.key == asked.key:
            return ResultGuess(output=each.output, kind=STALE, probability=P_STALE)
        if asked.query is None or each.query is None or each.others != others or others is None:
            continue
        likeness = similarity(asked.query, each.query)
        if likeness >= LEAST_SIMILARITY and (best is None or likeness >= best[0]):
            best = (likeness, each)
    if best is None:
        return None
    return ResultGuess(output=best[1].output, kind=SIMILAR, probability=P_SIMILAR * best[0])


def similarity(one: str, other: str) -> float:
    """The words that two queries share, as a part of those that either has (Jaccard), in [0, 1]."""
    mine, theirs = (set(_WORD.findall(each.casefold())) for each in (one, other))
    return len(mine & theirs) / len(mine | theirs) if mine or theirs else 0.0


def group_of(key: SearchKey) -> tuple[Any, ...]:
    """What results must have in common to say something of each other: tool, caller and scope."""
    return (key.tool, key.caller, key.scope)


def others_of(arguments: Mapping[str, Any], query: str | None) -> Encoded | None:
    """Every argument but the query, in a form that compares; None where there is no query to leave out."""
    left = dict(arguments)
    found = next((name for name, value in arguments.items() if value == query), None)
    if query is None or found is None:
        return None
    del left[found]
    return (found, *encode_arguments(left))
