"""Think tags are recognised wherever the stream is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.intent.think_tags import ThinkTagSplitter
from langgraph_prefetch.values import ReasoningDelta
from tests.intent.readers import cut


def spans(pieces: list[str]) -> list[tuple[bool, str]]:
    """Neighbouring spans of one kind joined, as (is reasoning, text)."""
    splitter = ThinkTagSplitter()
    deltas = [delta for piece in pieces for delta in splitter.feed(piece)] + list(splitter.finish())
    joined: list[tuple[bool, str]] = []
    for delta in deltas:
        kind = isinstance(delta, ReasoningDelta)
        if joined and joined[-1][0] == kind:
            joined[-1] = (kind, joined[-1][1] + delta.text)
        else:
            joined.append((kind, delta.text))
    return joined


TEXT = "<think>I need to weigh X</think>Result: a < b"


def test_every_split_point_gives_the_same_spans() -> None:
    """Two chunks cut anywhere, and single characters, classify the same spans; a lone ``<`` is text."""
    expected = [(True, "I need to weigh X"), (False, "Result: a < b")]
    assert all(spans(cut(TEXT, [point])) == expected for point in range(len(TEXT) + 1))
    assert spans(list(TEXT)) == expected


@pytest.mark.parametrize("name", ["think", "thinking", "reasoning"])
def test_tag_names(name: str) -> None:
    """The three names in use are known, and no longer name is."""
    assert spans([f"<{name}>a</{name}>b"]) == [(True, "a"), (False, "b")]
    assert spans([f"<{name}x>a"]) == [(False, f"<{name}x>a")]


@given(st.lists(st.sampled_from(["<", ">", "/", "think", "thinking", "<think>", "</think>", "a ", "é"])), st.data())
def test_cutting_changes_nothing(parts: list[str], data: st.DataObject) -> None:
    """Any text, tags whole or broken, gives the same spans for every way of cutting it."""
    text = "".join(parts)
    points = data.draw(st.lists(st.integers(0, len(text)), max_size=8))
    assert spans(cut(text, points)) == spans([text])


def test_held_text_is_released_at_the_end() -> None:
    """What looked like the start of a tag is text when the message ends there."""
    assert spans(["a <thi"]) == [(False, "a <thi")]
