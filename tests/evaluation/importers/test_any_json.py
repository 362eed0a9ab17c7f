"""Whatever stands in a file, reading it gives a trace or one error of ours: recordings come from many hands."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from langgraph_prefetch.errors import TraceFileError
from langgraph_prefetch.evaluation.advice.advise import AdviceSettings, advise
from langgraph_prefetch.evaluation.importers.read import FORMATS, read_trace
from langgraph_prefetch.evaluation.importers.values import Trace

NAMES = (
    *("event", "data", "chunk", "output", "input", "run_id", "parent_ids", "metadata", "name", "time", "events"),
    *("messages", "values", "content", "type", "role", "kwargs", "id", "tool_calls", "tool_call_chunks", "args"),
    *("function", "arguments", "tool_call_id", "additional_kwargs", "reasoning_content", "run_type", "trace_id"),
    *("parent_run_id", "inputs", "outputs", "start_time", "end_time", "child_runs", "runs", "generations", "choices"),
    *("message", "text", "steps", "style", "thought", "action", "query", "langgraph_step", "index", "agent"),
)
WORDS = (
    *("on_chat_model_start", "on_chat_model_stream", "on_chat_model_end", "on_tool_start", "on_tool_end", "on_x"),
    *("ai", "user", "assistant", "tool", "constructor", "AIMessageChunk", "llm", "tool_use", "text", "react_text"),
    *("search", "call_1", "2026-01-01T00:00:00", '{"query": "x"}', "", "x"),
)
LEAVES = st.none() | st.booleans() | st.integers(-3, 2**40) | st.floats(-1, 1e20) | st.sampled_from(WORDS)
JSON: Any = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=6),
    max_leaves=25,
)
EVENT = st.fixed_dictionaries(
    {
        "event": st.sampled_from(WORDS[:6]),
        "run_id": st.sampled_from(("a", "b")),
        "data": st.dictionaries(st.sampled_from(NAMES), JSON),
    },
    optional={"time": JSON, "metadata": JSON, "parent_ids": JSON, "name": JSON},
)
RUN = st.fixed_dictionaries(
    {"id": st.sampled_from(("a", "b", "c")), "run_type": st.sampled_from(("llm", "tool", "chain"))},
    optional=dict.fromkeys(("parent_run_id", "inputs", "outputs", "start_time", "end_time", "name", "events"), JSON),
)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(("user", "assistant", "tool")), "content": JSON},
    optional=dict.fromkeys(("tool_calls", "tool_call_id", "tool_call_chunks", "id", "additional_kwargs"), JSON),
)
RECORDS = st.lists(
    EVENT | RUN | MESSAGE | st.builds(lambda each: {"messages": each}, st.lists(MESSAGE)) | JSON, min_size=1, max_size=6
)


def read(values: list[Any], form: str | None, path: Path) -> Trace | None:
    path.write_text("\n".join(map(json.dumps, values)), encoding="utf-8")
    try:
        return read_trace(path, form)
    except TraceFileError:
        return None


@pytest.mark.parametrize("form", FORMATS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(values=RECORDS)
def test_any_json_is_read_or_refused(form: str, values: list[Any], tmp_path: Path) -> None:
    """In whatever format it is said to be."""
    read(values, form, tmp_path / "any.jsonl")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(values=RECORDS)
def test_what_was_read_can_be_advised_on(values: list[Any], tmp_path: Path) -> None:
    """However odd it is."""
    trace = read(values, None, tmp_path / "any.jsonl")
    if trace is not None:
        advise([trace], AdviceSettings())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(content=st.binary(max_size=60) | st.text('[]{}",:\\ \n\tax1', max_size=60).map(str.encode))
def test_any_bytes_are_refused_with_an_error_of_ours(content: bytes, tmp_path: Path) -> None:
    """No traceback, whatever the file is."""
    path = tmp_path / "any"
    path.write_bytes(content)
    with pytest.raises(TraceFileError):
        read_trace(path)
