"""A call is sealed when its JSON closes: once, exactly, and never before."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.intent.tool_args import ToolArgsReader
from langgraph_prefetch.values import SealedCall, ToolCallDelta
from tests.intent.readers import cut


def calls(*deltas: ToolCallDelta, max_chars: int = 1_000) -> list[SealedCall]:
    reader = ToolArgsReader(max_chars)
    return [call for delta in deltas if (call := reader.feed(delta)) is not None]


def streamed(pieces: list[str], index: int = 0, call_id: str = "t1") -> list[ToolCallDelta]:
    """A call as providers stream it: name and id first, then fragments."""
    head = ToolCallDelta(index=index, call_id=call_id, name="search")
    return [head, *(ToolCallDelta(index=index, arguments=piece) for piece in pieces)]


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=6), _values, min_size=1, max_size=3), st.booleans(), st.data())
def test_cut_anywhere(arguments: dict[str, Any], ascii_only: bool, data: st.DataObject) -> None:
    """However the JSON is cut, inside escapes and surrogate pairs too, the call comes once and equals the object."""
    text = json.dumps(arguments, ensure_ascii=ascii_only)
    points = data.draw(st.lists(st.integers(0, len(text)), max_size=10))
    found = calls(*streamed(cut(text, points)))
    assert [dict(call.arguments) for call in found] == [arguments]
    assert found[0].tool == "search"
    assert found[0].call_id == "t1"
    assert not found[0].textual


def test_every_split_point() -> None:
    """Escaped quotes, braces in strings and surrogate pairs may be cut at any character."""
    text = '{"query": "a \\"quoted}\\" \\\\", "emoji": "\\ud83d\\ude00é", "n": {"k": [1, "]"]}}'
    expected = json.loads(text)
    for point in range(len(text) + 1):
        assert [call.arguments for call in calls(*streamed(cut(text, [point])))] == [expected]
    assert [call.arguments for call in calls(*streamed(list(text)))] == [expected]


@given(st.dictionaries(st.text(max_size=6), _values, min_size=1, max_size=3), st.data())
def test_no_prefix_is_a_call(arguments: dict[str, Any], data: st.DataObject) -> None:
    """Arguments that were cut off never become a call with a shortened value."""
    text = json.dumps(arguments)
    assert calls(*streamed([text[: data.draw(st.integers(0, len(text) - 1))]])) == []


def test_it_is_sealed_by_the_closing_brace_itself() -> None:
    """The call comes with the fragment that closes it, before anything follows."""
    reader = ToolArgsReader()
    results = [reader.feed(delta) for delta in streamed(['{"query": "x', '"', "}", "{}", "junk"])]
    assert [result is not None for result in results] == [False, False, False, True, False, False]


def test_calls_that_share_an_index_are_two_calls() -> None:
    """A second id on an index in use is a second call; neither the names nor the arguments are glued."""
    found = calls(
        ToolCallDelta(index=0, call_id="a", name="search", arguments='{"query": "red"}'),
        ToolCallDelta(index=0, call_id="b", name="search", arguments='{"query": "blue"}'),
    )
    assert [(call.tool, call.call_id, call.arguments["query"]) for call in found] == [
        ("search", "a", "red"),
        ("search", "b", "blue"),
    ]


def test_interleaved_calls() -> None:
    """Parallel calls are kept apart by index, or by id where there is no index."""
    by_index = [streamed(['{"query": ', f'"{word}"}}'], index, word) for index, word in enumerate(["red", "blue"])]
    mixed = [delta for pair in zip(*by_index, strict=True) for delta in pair]
    assert [call.arguments["query"] for call in calls(*mixed)] == ["red", "blue"]
    by_id = [
        ToolCallDelta(call_id="a", name="search", arguments='{"query": '),
        ToolCallDelta(call_id="b", name="search", arguments='{"query": '),
        ToolCallDelta(call_id="a", arguments='"red"}'),
        ToolCallDelta(call_id="b", arguments='"blue"}'),
    ]
    assert [call.call_id for call in calls(*by_id)] == ["a", "b"]


def test_an_empty_object_is_a_placeholder() -> None:
    """``{}`` before the arguments is skipped; ``{}`` behind them changes nothing."""
    assert [dict(c.arguments) for c in calls(*streamed(["{}", '{"query": "x"}', "{}"]))] == [{"query": "x"}]
    assert [dict(c.arguments) for c in calls(*streamed(['{}{"query": "x"}{}']))] == [{"query": "x"}]


@pytest.mark.parametrize("text", ['{"query": x}', "[1, 2]", '"query"', '{"query": "x"]', "}", "{'query': 'x'}"])
def test_invalid_arguments_are_no_call(text: str) -> None:
    """What is no JSON object makes no call and no exception, and what follows on that call makes none either."""
    assert calls(*streamed([text, '{"query": "x"}'])) == []


def test_a_call_without_a_name_is_no_call() -> None:
    """Without the tool's name nothing can be started."""
    assert calls(ToolCallDelta(index=0, arguments='{"query": "x"}')) == []


def test_arguments_are_bounded() -> None:
    """Arguments over the limit are given up, and do not stay in memory."""
    reader = ToolArgsReader(max_chars=100)
    for delta in streamed(['{"query": "', *["x" * 50] * 10, '"}']):
        assert reader.feed(delta) is None
