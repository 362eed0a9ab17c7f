"""Recordings of LangGraph's `messages` stream."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from langgraph_prefetch.evaluation.importers.read import read_trace
from tests.evaluation.importers.recorded import QUESTION, Agent, assert_true, chunks_of, dumped, write_lines

WAYS: dict[str, Any] = {
    "pairs": lambda chunk, metadata: [chunk, metadata],
    "modes": lambda chunk, metadata: ["messages", [chunk, metadata]],
    "subgraphs": lambda chunk, metadata: [[], "messages", [chunk, metadata]],
    "named": lambda chunk, metadata: {"chunk": chunk, "metadata": metadata},
    "pair in a record": lambda chunk, metadata: {"time": 1.0, "chunk": [chunk, metadata]},
}


@pytest.mark.parametrize("way", WAYS)
def test_chunks_are_read_however_they_lie(way: str, tmp_path: Path) -> None:
    """Pairs, with a stream mode in front, with a namespace in front, in records; one run after the other."""
    agents = (Agent(), Agent())
    pairs = [(dumped([chunk])[0], metadata) for agent in agents for chunk, metadata in chunks_of(agent)]
    trace = read_trace(write_lines(tmp_path / "chunks.jsonl", [WAYS[way](*pair) for pair in pairs]))
    assert (trace.format, len(trace.runs), trace.skipped) == ("stream-chunks", 2, ())
    for agent, run in zip(agents, trace.runs, strict=True):
        assert_true(dataclasses.replace(run, question=QUESTION), agent)  # of the user's words this stream has none


def flat(message: Any, agent: str | None = "researcher") -> dict[str, Any]:
    """As a server sends chunks on to its page: some fields of the chunk, and its own."""
    chunks = getattr(message, "tool_call_chunks", None)
    return {
        "event": "message_chunk",
        "agent": agent,
        "id": message.id,
        "content": message.text or None,
        "reasoning_content": None,
        "tool_call_chunks": chunks or None,
        "tool_call_id": getattr(message, "tool_call_id", None),
    }


def test_runs_of_flat_chunks(tmp_path: Path) -> None:
    """A run a line, with its chunks: nobody's chunk is what the user said."""
    agent = Agent()
    chunks = [flat(chunk) for chunk, _ in chunks_of(agent)]
    asked = {**chunks[0], "agent": None, "content": QUESTION, "tool_call_chunks": None, "id": "asked"}
    trace = read_trace(write_lines(tmp_path / "runs.jsonl", [{"path": "a", "events": [asked, *chunks]}] * 2))
    assert (trace.format, len(trace.runs), trace.skipped) == ("stream-chunks", 2, ())
    assert_true(trace.runs[0], agent)
