"""Message lists of a checkpointer: every way of writing messages down gives the run that happened."""

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.load import dumps
from langchain_core.messages import AIMessage, BaseMessage, convert_to_openai_messages, messages_to_dict

from langgraph_prefetch.evaluation.importers.read import read_trace
from langgraph_prefetch.testing.models import ReasoningShape
from langgraph_prefetch.values import ReasoningDelta
from tests.evaluation.importers.recorded import (
    QUESTION,
    TURNS,
    Agent,
    assert_true,
    dumped,
    messages_of,
    told,
    write_lines,
)

SHAPES: dict[str, Any] = {
    "dumpd": dumped,
    "dumps": lambda messages: json.loads(dumps(messages)),
    "messages_to_dict": messages_to_dict,
    "model_dump": lambda messages: [each.model_dump() for each in messages],
    "openai": convert_to_openai_messages,
}
HOLDERS: dict[str, Any] = {
    "list": lambda messages: messages,
    "state": lambda messages: {"messages": messages},
    "snapshot": lambda messages: {"values": {"messages": messages}, "next": []},
    "checkpoint": lambda messages: {"checkpoint": {"channel_values": {"messages": messages}}},
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("holder", HOLDERS)
def test_messages_are_read_in_every_shape(shape: str, holder: str, tmp_path: Path) -> None:
    """However messages were written, and whatever holds them."""
    agent = Agent()
    written = HOLDERS[holder](SHAPES[shape](messages_of(agent)))
    trace = read_trace(write_lines(tmp_path / "threads.jsonl", [written, written]))
    assert (trace.format, trace.skipped) == ("messages", ())
    assert len(trace.runs) == 2
    assert_true(trace.runs[0], agent)


def test_one_thread_may_be_the_whole_file(tmp_path: Path) -> None:
    """A JSON array of messages, on one line or indented; or a message a line."""
    written = dumped(messages_of(Agent()))
    path = tmp_path / "thread.json"
    for text in (json.dumps(written), json.dumps(written, indent=2), "\n".join(map(json.dumps, written))):
        path.write_text(text, encoding="utf-8")
        (run,) = read_trace(path).runs
        assert len(run.steps) == 3


def test_each_question_of_a_thread_is_a_run(tmp_path: Path) -> None:
    """A conversation of two questions is two invocations of the agent."""
    messages = messages_of(Agent(turns=[*TURNS[-1:]] * 4), questions=2)
    trace = read_trace(write_lines(tmp_path / "threads.jsonl", [dumped(messages)]))
    assert [run.question for run in trace.runs] == [QUESTION, QUESTION]


@pytest.mark.parametrize("shape", ["reasoning_block", "bedrock", "additional_kwargs"])
def test_thinking_blocks_are_reasoning(shape: ReasoningShape, tmp_path: Path) -> None:
    """Reasoning of a whole message is read as reasoning, and is cut into tokens as it would have been streamed."""
    agent = Agent(shape)
    (run,) = read_trace(write_lines(tmp_path / "threads.jsonl", [dumped(messages_of(agent))])).runs
    assert_true(run, agent)
    assert sum(isinstance(each, ReasoningDelta) for each in run.steps[0].deltas) > 10


def test_calls_and_thinking_in_content_blocks(tmp_path: Path) -> None:
    """Anthropic's own blocks: thinking, text and tool_use."""
    blocks = [
        {"type": "thinking", "thinking": "I need to look. ", "signature": "c2ln"},
        {"type": "text", "text": "Searching."},
        {"type": "tool_use", "id": "c", "name": "search", "input": {"query": "x"}},
    ]
    thread = [["user", "Well?"], {"role": "assistant", "content": blocks}]
    (run,) = read_trace(write_lines(tmp_path / "threads.jsonl", [thread])).runs
    (step,) = run.steps
    assert (run.question, told(step)) == ("Well?", "I need to look. Searching.")
    assert [(call.name, dict(call.arguments), call.call_id) for call in step.calls] == [("search", {"query": "x"}, "c")]


def test_reasoning_content_beside_the_content(tmp_path: Path) -> None:
    """As several OpenAI-compatible servers write it."""
    thread = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "Yes.", "reasoning_content": "Hm. "}]
    (run,) = read_trace(write_lines(tmp_path / "threads.jsonl", [thread])).runs
    assert told(run.steps[0]) == "Hm. Yes."


def test_what_is_no_message_is_named(tmp_path: Path) -> None:
    """Messages written with str(), and other things: skipped, with what to do."""
    messages: list[BaseMessage] = [AIMessage("Secret words")]
    thread = [{"role": "user", "content": "?"}, str(messages[0]), {"role": "alien"}, {"role": "ai", "content": "Yes."}]
    for lines in ([{"messages": thread}], [thread, thread], thread):
        trace = read_trace(write_lines(tmp_path / "threads.jsonl", lines))
        assert trace.skipped_count == (4 if lines == [thread, thread] else 2)
        assert "dumpd" in trace.skipped[0].reason
        assert "message" in trace.skipped[1].reason
        assert "Secret" not in str(trace.skipped)
        assert len(trace.runs[0].steps) == 1
