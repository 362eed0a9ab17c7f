"""Passages of several searches become one context: merged by id, ordered, fitted to a budget. Pure.

Merging is a reduction: associative, commutative and idempotent. So the result depends on what was found, and not on
which search came back first, nor on one being read twice.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

from langchain_core.documents import Document

from langgraph_prefetch.config import require_at_least

SEPARATOR = "\n\n"
"""Stands between passages where a context is one text; counted with each."""

CountTokens = Callable[[str], int]


def approximate_tokens(text: str) -> int:
    """A token for every four characters, as langchain-core's ``count_tokens_approximately`` has it."""
    return -(-len(text) // 4)


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A passage and the best place in which a search had it: ``rank`` 0 is the first; of scores the higher is better.

    A passage without a score stands behind all that have one.
    """

    document: Document
    rank: int
    score: float | None = None

    @cached_property
    def order(self) -> tuple[Any, ...]:
        """Smaller is better; equal only for passages that cannot be told apart."""
        document = self.document
        metadata = json.dumps(document.metadata, sort_keys=True, default=repr)
        score = (1, 0.0) if self.score is None else (0, -self.score)
        return (*score, self.rank, passage_key(document), document.page_content, metadata)


Pool = Mapping[Hashable, Ranked]


def passage_key(document: Document) -> tuple[str, str]:
    """What makes two passages one: their id, or without one their text."""
    return ("text", document.page_content) if document.id is None else ("id", str(document.id))


def pooled(search: Iterable[Document], score_key: str | None = None) -> Pool:
    """One search's passages, best first, each under its key."""
    pool: dict[Hashable, Ranked] = {}
    for rank, document in enumerate(search):
        found = Ranked(document=document, rank=rank, score=_score(document, score_key))
        _keep_better(pool, passage_key(document), found)
    return pool


def merged(left: Pool, right: Pool) -> Pool:
    """Both pools in one; of each passage the better place."""
    pool = dict(left)
    for key, found in right.items():
        _keep_better(pool, key, found)
    return pool


def in_order(pool: Pool) -> list[Document]:
    """The pool's passages: by score where there are scores, then by rank, then by id."""
    return [found.document for found in sorted(pool.values(), key=lambda found: found.order)]


def fitted(
    documents: Iterable[Document],
    max_tokens: int,
    count_tokens: CountTokens = approximate_tokens,
    *,
    cut: bool = False,
) -> list[Document]:
    """Those that fit into ``max_tokens``, in order; a passage too long for what is left makes room for later ones.

    Args:
        documents: best first.
        max_tokens: for all of them together, separators counted.
        count_tokens: tokens of a text.
        cut: shorten the first passage that does not fit, at a word's end, and stop there; its metadata says so
            (``truncated``).
    """
    kept, left = [], max_tokens
    for document in documents:
        tokens = count_tokens(document.page_content + SEPARATOR)
        if tokens <= left:
            kept.append(document)
            left -= tokens
        elif cut:
            shortened = _cut(document.page_content, left, count_tokens)
            if shortened:
                metadata = {**document.metadata, "truncated": True}
                kept.append(document.model_copy(update={"page_content": shortened, "metadata": metadata}))
            break
    return kept


def reduce_context(
    searches: Iterable[Sequence[Document]],
    *,
    max_tokens: int,
    count_tokens: CountTokens = approximate_tokens,
    score_key: str | None = None,
    cut: bool = False,
) -> list[Document]:
    """The passages of several searches as one context that fits a budget, the same in whatever order they came.

    Args:
        searches: what each search found, best first.
        max_tokens: for the whole context.
        count_tokens: tokens of a text; about four characters each if not given.
        score_key: the metadata that holds a score which can be compared across the searches, higher being better;
            without one the best place in any search decides.
        cut: shorten the first passage that does not fit, instead of leaving it out.

    Raises:
        ConfigurationError: ``max_tokens`` below 0.
    """
    require_at_least("max_tokens", max_tokens, 0)
    pools = (pooled(search, score_key) for search in searches)
    pool: Pool = reduce(merged, pools, {})
    return fitted(in_order(pool), max_tokens, count_tokens, cut=cut)


def _keep_better(pool: dict[Hashable, Ranked], key: Hashable, found: Ranked) -> None:
    known = pool.get(key)
    if known is None or found.order < known.order:
        pool[key] = found


def _score(document: Document, key: str | None) -> float | None:
    value = document.metadata.get(key) if key is not None else None
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return None
    return float(value)


def _cut(text: str, max_tokens: int, count_tokens: CountTokens) -> str:
    """The longest beginning of whole words whose tokens, with a separator, fit."""
    ends = [end for end in range(1, len(text) + 1) if end == len(text) or text[end].isspace()]
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high + 1) // 2
        if count_tokens(text[: ends[middle - 1]] + SEPARATOR) <= max_tokens:
            low = middle
        else:
            high = middle - 1
    return text[: ends[low - 1]].rstrip() if low else ""
