"""Vectors without a model: the same everywhere, of unit length, near where words are shared."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.demo.embedding import DIMENSIONS, HashingEmbedder, words

TEXTS = ("heapq.nlargest: Find the n largest elements", "shlex.split: Split the string", "time.time: Return seconds")


@given(st.text())
def test_length_is_one_or_nothing(text: str) -> None:
    """Cosine distance is defined for every text with a word in it; no text fails."""
    vector = HashingEmbedder(TEXTS).embed(text)
    assert vector.shape == (DIMENSIONS,)
    assert vector.dtype == np.float32
    # Two words may meet in both buckets and cancel each other, which random text practically never does.
    assert float(np.linalg.norm(vector)) == pytest.approx(1.0 if words(text) else 0.0, abs=1e-5)


def test_every_process_has_the_same_vectors() -> None:
    """Python salts its own hash anew in every process; these vectors are stored."""
    assert np.flatnonzero(HashingEmbedder().embed("heapq elements")).tolist() == [491, 1081, 1200, 1344]


def test_the_text_that_shares_words_is_the_nearest() -> None:
    """It ranks, case and plural aside."""
    embedder = HashingEmbedder(TEXTS)
    vectors = [embedder.embed(text) for text in TEXTS]
    for query, nearest in (("LARGEST element", 0), ("split strings", 1), ("second of time", 2)):
        scores = [float(embedder.embed(query) @ vector) for vector in vectors]
        assert int(np.argmax(scores)) == nearest, query


def test_a_rare_word_weighs_more() -> None:
    """A word that stands in every passage says little about any."""
    embedder = HashingEmbedder([f"common word{chr(97 + n)}" for n in range(20)])
    both = embedder.embed("common rare")
    assert float(both @ embedder.embed("rare")) > 2 * float(both @ embedder.embed("common"))


def test_names_are_taken_apart() -> None:
    """Dots, underscores and capitals end words; the commonest words are left out."""
    taken_apart = ["tempfile", "named", "temporary", "file", "lru", "cache"]
    assert words("the tempfile.NamedTemporaryFile of lru_cache") == taken_apart
