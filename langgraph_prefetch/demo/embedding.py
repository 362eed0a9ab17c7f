"""Texts as vectors without a model to download: feature hashing, weighted by how rare a word is in the corpus."""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

DIMENSIONS = 1536

Vector = npt.NDArray[np.float32]

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_STOP_WORDS = frozenset(
    "a an and are as at be by for from how if in into is it its not of on or that the this to what which with".split()
)


class HashingEmbedder:
    """Words hashed into buckets with a sign, weighted by rarity, as vectors of unit length.

    Weinberger et al., "Feature Hashing for Large Scale Multitask Learning" (ICML 2009). The same text has the same
    vector in every process. It knows words, not meanings: enough to show an agent, not to build a product on.

    Args:
        corpus: texts that say which words are rare; with none, all weigh the same.
    """

    def __init__(self, corpus: Iterable[str] = ()) -> None:
        texts = [set(words(text)) for text in corpus]
        self._texts = len(texts)
        self._texts_with = Counter(word for each in texts for word in each)

    def embed(self, text: str) -> Vector:
        """A vector of ``DIMENSIONS`` numbers and length 1; all zeros for a text without words."""
        vector = np.zeros(DIMENSIONS, dtype=np.float64)
        for word, count in Counter(words(text)).items():
            weight = math.log1p(count) * self._rarity(word)
            for place, sign in _places(word):
                vector[place] += sign * weight
        length = float(np.linalg.norm(vector))
        return (vector / length if length else vector).astype(np.float32)

    def _rarity(self, word: str) -> float:
        return math.log((1 + self._texts) / (1 + self._texts_with[word])) + 1


def _places(word: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """Two buckets a word, so that words that meet in one are still told apart by the other."""
    code = zlib.crc32(word.encode())  # not hash(): Python salts that anew in every process
    low, high = code & 0xFFFF, code >> 16
    return (low % DIMENSIONS, 1 if code & 1 << 15 else -1), (high % DIMENSIONS, 1 if code & 1 << 31 else -1)


def words(text: str) -> list[str]:
    """The words of a text in lower case, plurals cut, camel case taken apart, the commonest left out."""
    found = (word.lower() for word in _WORD.findall(text))
    return [_stem(word) for word in found if word not in _STOP_WORDS]


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
