"""Every shape in which a provider streams text, reasoning and tool arguments becomes the same deltas."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk

from langgraph_prefetch.intent.chunk_reader import ChunkReader
from langgraph_prefetch.intent.stream import deltas_of_chunk, deltas_of_event
from langgraph_prefetch.intent.tool_args import ToolArgsReader
from langgraph_prefetch.values import ReasoningDelta, TextDelta, ToolCallDelta


def chunk(content: Any = "", **fields: Any) -> AIMessageChunk:
    return AIMessageChunk(content=content, **fields)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", ()),
        ("tea", (TextDelta("tea"),)),
        ([], ()),
        ([{"type": "text", "text": "tea", "index": 0}], (TextDelta("tea"),)),
        ([{"type": "text", "text": ""}], ()),
        (["tea"], (TextDelta("tea"),)),
        ([{"type": "tool_use", "name": "search", "id": "t1", "input": {}, "index": 1}], ()),
        ([{"type": "input_json_delta", "partial_json": '{"a"', "index": 1}], ()),
        ([{"type": "image_of_the_future", "text": "tea"}], ()),
        ([{"type": "thinking", "thinking": "hm", "index": 0}], (ReasoningDelta("hm"),)),
        ([{"type": "thinking", "thinking": "", "signature": "c2ln"}], ()),
        ([{"type": "redacted_thinking", "data": "AAAA"}], ()),
        ([{"type": "reasoning_content", "reasoning_content": {"text": "hm"}, "index": 0}], (ReasoningDelta("hm"),)),
        ([{"type": "reasoning_content", "reasoning_content": {"signature": "c2ln"}, "index": 0}], ()),
        ([{"type": "reasoning_content", "reasoning_content": {"redacted_content": b"\x00"}}], ()),
        ([{"type": "reasoning", "reasoning": "hm"}], (ReasoningDelta("hm"),)),
        ([{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}], (ReasoningDelta("hm"),)),
        ([{"type": "reasoning", "id": "rs_1", "summary": []}], ()),
        (
            [{"type": "non_standard", "value": {"type": "reasoning_content", "reasoning_content": {"text": "hm"}}}],
            (ReasoningDelta("hm"),),
        ),
        ([{"type": "non_standard", "value": {"type": "weather"}}], ()),
    ],
)
def test_content_shapes(content: Any, expected: tuple[object, ...]) -> None:
    """Text and reasoning are told apart in every shape; signatures, redacted bytes and unknown blocks are left out."""
    assert deltas_of_chunk(chunk(content)) == expected


class Loose:
    """What a provider's class might look like when it is not LangChain's."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


def test_text_of_a_block_may_be_none() -> None:
    """A block whose text is None, and blocks that are no blocks at all, are empty, not an error."""
    assert deltas_of_chunk(Loose(content=[{"type": "text", "text": None}, None, 3], tool_call_chunks=[])) == ()


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_in_additional_kwargs(field: str) -> None:
    """Reasoning beside an empty content is read; without the field there is simply none."""
    assert deltas_of_chunk(chunk("", additional_kwargs={field: "hm"})) == (ReasoningDelta("hm"),)
    summary = {"id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]}
    assert deltas_of_chunk(chunk("", additional_kwargs={"reasoning": summary})) == (ReasoningDelta("hm"),)
    assert deltas_of_chunk(chunk("", additional_kwargs={"other": "hm"})) == ()


def test_bedrock_sends_a_tool_name_without_arguments() -> None:
    """The first tool fragment has ``args=None``; an empty id means no id."""
    first = {"name": "search", "args": None, "id": "t1", "index": 2, "type": "tool_call_chunk"}
    later = {"name": None, "args": '{"que', "id": "", "index": 2, "type": "tool_call_chunk"}
    assert deltas_of_chunk(chunk([], tool_call_chunks=[first])) == (
        ToolCallDelta(index=2, call_id="t1", name="search", arguments=""),
    )
    assert deltas_of_chunk(chunk("", tool_call_chunks=[later])) == (ToolCallDelta(index=2, arguments='{"que'),)


def test_whole_message_gives_whole_calls() -> None:
    """A message that was not streamed gives each call's arguments in one piece."""
    message = AIMessage(content="ok", tool_calls=[{"name": "search", "args": {"query": "tea"}, "id": "t1"}])
    assert deltas_of_chunk(message) == (
        TextDelta("ok"),
        ToolCallDelta(index=0, call_id="t1", name="search", arguments='{"query": "tea"}'),
    )


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
_keys = st.sampled_from(["type", "text", "reasoning", "summary", "value", "reasoning_content", "thinking", "content"])
_types = st.sampled_from(["text", "reasoning", "thinking", "reasoning_content", "non_standard", "tool_call"])


@given(st.lists(st.dictionaries(_keys, _json | _types, max_size=4) | _json, max_size=3), _json)
def test_no_shape_raises(blocks: list[Any], extra: Any) -> None:
    """Whatever a provider sends, reading it never raises and yields text only."""
    fields = {"content": blocks, "additional_kwargs": extra, "tool_call_chunks": blocks, "tool_calls": blocks}
    for delta in deltas_of_chunk(Loose(**fields)):
        assert not isinstance(delta, TextDelta | ReasoningDelta) or delta.text
    for event in (
        {"event": "content-block-delta", "delta": extra},
        {"event": "content-block-finish", "content": extra},
    ):
        deltas_of_event(event)


def test_protocol_events_say_each_text_once() -> None:
    """Of start, deltas and finish of a v3 block only the deltas carry text: no fragment is read twice."""
    text = "Let me think about tea."
    model = GenericFakeChatModel(messages=iter([AIMessage(content=text)]))
    events = list(model.stream_events("hi", version="v3"))
    read = [delta for event in events for delta in deltas_of_event(event)]
    assert "".join(delta.text for delta in read if isinstance(delta, TextDelta)) == text


def test_protocol_event_shapes() -> None:
    """Reasoning, tool fragments and finished calls of v3 events are read; block snapshots and errors are not."""
    start = {"type": "tool_call_chunk", "id": "t1", "name": "search", "args": "", "index": "lc_1"}
    assert deltas_of_event({"event": "content-block-start", "index": 1, "content": start}) == (
        ToolCallDelta(index=1, call_id="t1", name="search"),
    )
    assert deltas_of_event(
        {"event": "content-block-delta", "index": 1, "delta": {"type": "tool-call-delta", "args": '{"q'}}
    ) == (ToolCallDelta(index=1, arguments='{"q'),)
    assert deltas_of_event(
        {"event": "content-block-delta", "index": 0, "delta": {"type": "reasoning-delta", "reasoning": "hm"}}
    ) == (ReasoningDelta("hm"),)
    for ignored in (
        {"event": "message-start"},
        {"event": "content-block-start", "index": 0, "content": {"type": "text", "text": ""}},
        {"event": "content-block-finish", "index": 0, "content": {"type": "text", "text": "all of it"}},
        {"event": "content-block-finish", "index": 0, "content": {"type": "invalid_tool_call", "args": '{"q'}},
        {"event": "error", "message": "gone"},
        None,
    ):
        assert deltas_of_event(ignored) == ()


def test_a_finished_call_is_sealed_once() -> None:
    """A v3 finish seals a call whose provider streams no arguments, and adds nothing where they were streamed."""
    finish = {
        "event": "content-block-finish",
        "index": 0,
        "content": {"type": "tool_call", "id": "t1", "name": "search", "args": {"query": "tea"}},
    }
    streamed = ToolCallDelta(index=0, call_id="t1", name="search", arguments='{"query": "tea"}')
    for before in ([], [streamed]):
        reader = ToolArgsReader()
        deltas = [*before, *deltas_of_event(finish)]
        calls = [call for delta in deltas if isinstance(delta, ToolCallDelta) and (call := reader.feed(delta))]
        assert [dict(call.arguments) for call in calls] == [{"query": "tea"}]


def test_a_repeated_message_is_read_once() -> None:
    """After the tokens, the whole message again is no news, be it a message or one more chunk."""
    pieces = ["I should look at ", "the tea ", "first."]
    for repeat in (AIMessage(content="".join(pieces)), chunk("".join(pieces))):
        reader = ChunkReader()
        assert [reader.read(chunk(piece)) for piece in pieces] == [(TextDelta(piece),) for piece in pieces]
        assert reader.read(repeat) == ()


def test_a_whole_message_after_its_chunks_is_dropped() -> None:
    """The final message may differ from its chunks (blocks joined, calls parsed) and is still no news."""
    reader = ChunkReader()
    reader.read(chunk("tea"))
    assert reader.read(AIMessage(content=[{"type": "text", "text": "tea, strained"}])) == ()


def test_a_message_that_was_not_streamed_is_read() -> None:
    """A whole message with nothing before it is read, and short repeated tokens are text."""
    assert ChunkReader().read(AIMessage(content="tea")) == (TextDelta("tea"),)
    reader = ChunkReader()
    assert [reader.read(chunk("ha")) for _ in range(3)] == [(TextDelta("ha"),)] * 3
