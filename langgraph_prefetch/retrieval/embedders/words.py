"""Words of a text and what of them is hashed."""

from __future__ import annotations

import re
import zlib
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

OF_THE_WORD = 2

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")  # camel case taken apart
_STOP_WORDS = frozenset(
    "a an and are as at be by for from how if in into is it its not of on or that the this to was were what when where "
    "which who with".split()
)
_SHORTEST, _LONGEST = 3, 4
_MAX_WORD = 40  # of what is longer, such as a line of base64 or of Thai, pieces: its parts are told by their n-grams


def words(text: str) -> list[str]:
    """The words in lower case, plurals cut, the commonest English ones left out unless there are no others."""
    found = [word.lower() for word in _WORD.findall(text)]
    kept = [_stem(word) for word in found if word not in _STOP_WORDS]
    return kept or found


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


@lru_cache(maxsize=1 << 15)
def features(word: str) -> NDArray[np.uint64]:
    """Numbers of 64 bits that stand for a word, ``OF_THE_WORD`` of them, and for its character n-grams, the others.

    The same in every process, unlike ``hash()``, which Python salts anew.
    """
    edged = f"<{word[:_MAX_WORD]}>"
    grams = (
        b"2" + edged[start : start + length].encode()
        for length in range(_SHORTEST, _LONGEST + 1)
        for start in range(len(edged) - length + 1)
    )
    whole = word.encode()
    codes = [zlib.crc32(feature) for feature in (b"0" + whole, b"1" + whole, *grams)]
    return _mixed(np.array(codes, dtype=np.uint64))


def _mixed(codes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Every bit of a checksum spread over all bits (the finalizer of SplitMix64); CRCs of like texts are alike."""
    codes = (codes ^ (codes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    codes = (codes ^ (codes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return codes ^ (codes >> np.uint64(31))
