"""Vectors without a model: words and their parts hashed into buckets. Needs NumPy alone."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.retrieval.embedders.base import UnitEmbeddings, to_unit_length
from langgraph_prefetch.retrieval.embedders.words import OF_THE_WORD, features, words

DIMENSIONS = 1_024
_PARTS_WEIGHT = 1.0  # of all n-grams of a word together, against that of the word
_AT_ONCE = 512  # texts, which bounds the memory


class HashingEmbeddings(UnitEmbeddings):
    """Words, and with less weight their character n-grams, hashed into buckets with a sign.

    Weinberger et al., "Feature Hashing for Large Scale Multitask Learning" (ICML 2009). A text has the same vector on
    every machine. It knows words and their spelling, not meanings: enough for tests and demonstrations.

    Args:
        dimensions: the length of a vector, at least 16.
        corpus: texts that say which words are rare, and so tell more; with none, all weigh the same.

    Raises:
        ConfigurationError: ``dimensions`` is too small.
    """

    def __init__(self, dimensions: int = DIMENSIONS, *, corpus: Iterable[str] = ()) -> None:
        require_at_least("dimensions", dimensions, 16)
        self._dimensions = dimensions
        self._texts = 0
        self._texts_with: Counter[str] = Counter()
        for text in corpus:
            self._texts += 1
            self._texts_with.update(set(words(text)))
        known = f"{self._texts} {sorted(self._texts_with.items())}".encode()
        fitted = f" corpus={hashlib.blake2b(known, digest_size=8).hexdigest()}" if self._texts else ""
        self._identity = f"hashing/1 dimensions={dimensions}{fitted}"

    @property
    def identity(self) -> str:
        """Its version, the length of its vectors, and what it was fitted to."""
        return self._identity

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return self._dimensions

    def embed_matrix(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of texts, shape ``(len(texts), dimensions)``."""
        made = np.empty((len(texts), self._dimensions), dtype=np.float32)
        for start in range(0, len(texts), _AT_ONCE):
            made[start : start + _AT_ONCE] = self._embed(texts[start : start + _AT_ONCE])
        return to_unit_length(made)

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        found: dict[str, int] = {}
        rows, which, weights = [], [], []
        for row, text in enumerate(texts):
            for word, count in Counter(words(text)).items():
                rows.append(row)
                which.append(found.setdefault(word, len(found)))
                weights.append(math.log1p(count))
        starts, places, values = self._features(list(found))
        # Each occurrence of a word in a text becomes the word's features, all at once.
        of = np.array(which, dtype=np.int64)
        lengths = (starts[1:] - starts[:-1])[of]
        ends = np.cumsum(lengths)
        flat = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts[:-1][of] - (ends - lengths), lengths)
        cells = np.repeat(np.array(rows, dtype=np.int64) * self._dimensions, lengths) + places[flat]
        amounts = np.repeat(np.array(weights, dtype=np.float64), lengths) * values[flat]
        sums: NDArray[Any] = np.bincount(cells, weights=amounts, minlength=len(texts) * self._dimensions)
        return sums.reshape(len(texts), self._dimensions)

    def _features(self, found: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Where each word's features start, their buckets and their signed weights."""
        each = [features(word) for word in found]
        codes = np.concatenate(each) if each else np.zeros(0, dtype=np.uint64)
        lengths = np.array([len(codes) for codes in each], dtype=np.int64)
        starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
        rarities = np.array([self._rarity(word) for word in found], dtype=np.float64)
        weights = np.repeat(rarities * _PARTS_WEIGHT / np.sqrt(np.maximum(lengths - OF_THE_WORD, 1)), lengths)
        for index in range(OF_THE_WORD):
            weights[starts[:-1] + index] = rarities
        signs = np.where(codes >> np.uint64(63), 1.0, -1.0)
        return starts, (codes % np.uint64(self._dimensions)).astype(np.int64), signs * weights

    def _rarity(self, word: str) -> float:
        return math.log((1 + self._texts) / (1 + self._texts_with[word])) + 1
