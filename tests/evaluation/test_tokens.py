"""Text is cut as a model would stream it, and nothing gets lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.evaluation.tokens import cut


@given(st.text())
def test_pieces_join_back_to_the_text(text: str) -> None:
    """Whatever the text, its pieces are all of it, in order, and none is empty."""
    pieces = cut(text)
    assert "".join(pieces) == text
    assert all(pieces)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("I need to look", ["I", " need", " to", " look"]),
        ("encyclopaedia", ["encycl", "opaedi", "a"]),
        ("Search[Ada Lovelace]", ["Search", "[", "Ada", " Lovela", "ce", "]"]),
        ('say "yes", twice.', ["say", ' "', "yes", '",', " twice", "."]),
        ("图书馆 있다", ["图", "书", "馆", " ", "있", "다"]),
        ("one\n\n  two", ["one", "\n\n  ", "two"]),
        ("snake_case", ["snake", "_", "case"]),
    ],
)
def test_where_the_cuts_are(text: str, pieces: list[str]) -> None:
    """The stated rules, one example each."""
    assert cut(text) == pieces


def test_english_prose_averages_about_four_characters() -> None:
    """Lead times are in tokens, so a piece must be about as long as a real token."""
    prose = (
        "The engine reads the reasoning while it is being written, decides what the model is about to ask for, and "
        "starts that retrieval early. When the real call arrives, its answer is usually there, and nobody has waited."
    )
    assert 3.5 < len(prose) / len(cut(prose)) < 4.7
