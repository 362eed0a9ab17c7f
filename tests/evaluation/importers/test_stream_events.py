"""Recordings of `astream_events`: what is read is what the agent did, however the events were written down."""

import json
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.load import dumpd, dumps
from langchain_core.messages import BaseMessage
from langchain_core.tools import tool

from langgraph_prefetch.evaluation.importers.read import read_trace
from langgraph_prefetch.testing.models import Call, ReasoningShape, ScriptedChatModel, Turn
from tests.evaluation.importers.recorded import (
    TOOL_SECONDS,
    Agent,
    assert_true,
    events_of,
    record_events,
    told,
    write_lines,
)

VERSIONS = ("v1", "v2")


def as_dicts(value: Any) -> Any:
    """As people do it by hand: messages by ``model_dump``, the rest as it is or as a string."""
    if isinstance(value, BaseMessage):
        return value.model_dump()
    if isinstance(value, dict):
        return {name: as_dicts(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [as_dicts(each) for each in value]
    if hasattr(value, "model_dump"):
        return as_dicts(value.model_dump())
    return value if isinstance(value, str | int | float | bool | None) else str(value)


WAYS: dict[str, Any] = {
    "dumps": lambda event: json.loads(dumps(event)),
    "dumps in a string": dumps,
    "dumpd": dumpd,
    "model_dump": as_dicts,
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("way", WAYS)
def test_events_are_read_in_every_way_of_writing(version: str, way: str, tmp_path: Path) -> None:
    """Two versions, four ways of writing: the same run, found out without being told the format."""
    agent = Agent()
    events = [WAYS[way](event) for _, event in events_of(agent, version)]
    trace = read_trace(write_lines(tmp_path / "events.jsonl", events))
    assert (trace.format, trace.skipped) == ("stream-events", ())
    (run,) = trace.runs
    assert_true(run, agent)
    assert all(step.times is None and step.seconds is None for step in run.steps)  # events have no time of their own


@pytest.mark.parametrize("shape", ["text", "reasoning_block", "bedrock", "additional_kwargs"])
def test_reasoning_is_read_in_every_shape(shape: ReasoningShape, tmp_path: Path) -> None:
    """Thinking is thinking, in whichever shape the provider streams it."""
    agent = Agent(shape)
    events = [json.loads(dumps(event)) for _, event in events_of(agent, "v2")]
    (run,) = read_trace(write_lines(tmp_path / "events.jsonl", events)).runs
    assert_true(run, agent)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("wrap", [True, False])
def test_moments_beside_events_time_tokens_and_tools(version: str, wrap: bool, tmp_path: Path) -> None:
    """With a moment beside each event, every token and every tool has its time."""
    agent = Agent(seconds_per_token=0.001)
    timed = [(at, json.loads(dumps(event))) for at, event in events_of(agent, version)]
    lines = [{"time": at, "event": event} if wrap else {**event, "timestamp": at} for at, event in timed]
    (run,) = read_trace(write_lines(tmp_path / "events.jsonl", lines)).runs
    assert_true(run, agent)
    for step in run.steps:
        assert step.times is not None
        assert len(step.times) == len(step.deltas)
        assert list(step.times) == sorted(step.times)
        assert step.seconds is not None
        assert step.times[-1] <= step.seconds
        assert all(call.seconds is not None and call.seconds >= TOOL_SECONDS * 0.9 for call in step.calls)
        assert (step.gap is not None) == bool(step.calls)


def test_runs_one_after_another_and_at_once_are_told_apart(tmp_path: Path) -> None:
    """One file, several invocations: v2 names the run of each event; v1 tells by the end of the graph."""
    runs = [[json.loads(dumps(event)) for _, event in events_of(Agent(), "v2")] for _ in range(2)]
    mixed = [event for pair in zip(*runs, strict=True) for event in pair]
    assert len(read_trace(write_lines(tmp_path / "at-once.jsonl", mixed)).runs) == 2
    for version in VERSIONS:
        both = [json.loads(dumps(event)) for _ in range(2) for _, event in events_of(Agent(), version)]
        trace = read_trace(write_lines(tmp_path / "after.jsonl", both))
        assert [len(run.steps) for run in trace.runs] == [3, 3]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_model_inside_a_tool_is_another_agent(version: str, tmp_path: Path) -> None:
    """A sub-agent's messages are no messages of the agent that called it as a tool."""
    inner: Any = create_agent(ScriptedChatModel(script=[Turn(text="The sub-agent says so.")]), [])

    @tool
    async def ask_expert(query: str) -> str:
        """Ask."""
        said = await inner.ainvoke({"messages": [("user", query)]})
        return str(said["messages"][-1].text)

    script = [Turn("Ask first. ", calls=[Call("ask_expert", {"query": "x"})]), Turn(text="Done.")]
    outer = create_agent(ScriptedChatModel(script=script), [ask_expert])
    lines = [json.loads(dumps(event)) for _, event in record_events(outer, version)]
    trace = read_trace(write_lines(tmp_path / "events.jsonl", lines))
    assert sorted([told(step) for step in run.steps] for run in trace.runs) == [
        ["Ask first. ", "Done."],
        ["The sub-agent says so."],
    ]


def test_chunks_written_with_str_are_named(tmp_path: Path) -> None:
    """What str() made of a message cannot be read; the message says how to write it instead. Calls are still known."""
    lines = []
    for _, event in events_of(Agent(), "v2"):
        plain = json.loads(dumps(event))
        if event["event"] == "on_chat_model_stream":
            plain["data"] = {"chunk": str(event["data"]["chunk"])}
        lines.append(plain)
    trace = read_trace(write_lines(tmp_path / "events.jsonl", lines))
    assert trace.skipped_count > 10
    assert "dumpd" in trace.skipped[0].reason
    assert "Lovelace" not in str(trace.skipped)
    assert [len(step.calls) for step in trace.runs[0].steps] == [2, 1, 0]  # from the whole message at the end


def test_a_recording_that_was_cut_off_gives_what_it_holds(tmp_path: Path) -> None:
    """A process killed while it recorded: the last line is half a line, and the last message has no end."""
    lines = [dumps(event) for _, event in events_of(Agent(), "v2")]
    half = "\n".join(lines[: len(lines) // 2]) + "\n" + lines[len(lines) // 2][:40]
    path = tmp_path / "events.jsonl"
    path.write_text(half, encoding="utf-8")
    trace = read_trace(path)
    assert trace.skipped_count == 1
    assert trace.skipped[0].reason.startswith("not JSON")
    assert trace.runs[0].steps
