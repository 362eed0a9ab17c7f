"""A recorded message is streamed as an agent of its style would have written it."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from langgraph_prefetch.evaluation.streams import pieces
from langgraph_prefetch.evaluation.traces import RecordedStep, Style
from langgraph_prefetch.values import Delta, ReasoningDelta, TextDelta, ToolCallDelta


def streamed(
    style: Style, action: str, arguments: Mapping[str, Any], thought: str = "I think, so I ask."
) -> list[Delta]:
    step = RecordedStep(thought=thought, action=action, query="")
    return list(pieces(step, arguments, style, "call-1"))


def text(deltas: list[Delta], kind: type[TextDelta] | type[ReasoningDelta]) -> str:
    return "".join(each.text for each in deltas if isinstance(each, TextDelta | ReasoningDelta) and type(each) is kind)


def test_react_text_writes_an_action_line() -> None:
    """A bare query stands in brackets behind the tool's name, as text."""
    deltas = streamed("react_text", "search", {"query": "Ada Lovelace"})
    assert text(deltas, TextDelta) == "I think, so I ask.\nAction: Search[Ada Lovelace]"
    assert len(deltas) > 10


def test_react_text_writes_structured_arguments_as_json() -> None:
    """What is more than a query comes as an action input."""
    deltas = streamed("react_text", "search", {"term": "Ada", "k": 3})
    assert text(deltas, TextDelta).endswith('\nAction: Search\nAction Input: {"term": "Ada", "k": 3}')


def test_think_tags_reason_until_the_thought_closes() -> None:
    """The thought and its tags are reasoning; what follows the closing tag is the visible answer."""
    deltas = streamed("think_tags", "search", {"query": "Ada"}, thought="<think>Hm.")
    assert text(deltas, ReasoningDelta) == "Hm.<search>Ada</search>"
    assert text(deltas, TextDelta) == ""
    deltas = streamed("think_tags", "finish", {"query": "1843"}, thought="So it was.</think> ")
    assert text(deltas, ReasoningDelta) == "So it was."
    assert text(deltas, TextDelta) == " <answer>1843</answer>"


def test_tool_calls_stream_json_fragments() -> None:
    """The first fragment names the call, and the arguments' text is cut like any other."""
    deltas = streamed("tool_calls", "search", {"query": "Zoë", "k": 1})
    calls = [each for each in deltas if isinstance(each, ToolCallDelta)]
    assert (calls[0].name, calls[0].call_id, calls[0].arguments) == ("search", "call-1", "")
    assert {(each.index, each.name) for each in calls[1:]} == {(0, None)}
    assert json.loads("".join(each.arguments for each in calls)) == {"query": "Zoë", "k": 1}
    assert text(deltas, TextDelta) == "I think, so I ask."


@pytest.mark.parametrize("style", ["react_text", "think_tags", "tool_calls"])
def test_a_plain_reply_is_all_there_is(style: Style) -> None:
    """An action that is only a message writes no call."""
    deltas = streamed(style, "respond", {"query": ""})
    assert text(deltas, TextDelta) + text(deltas, ReasoningDelta) == "I think, so I ask."
    assert not any(isinstance(each, ToolCallDelta) for each in deltas)
