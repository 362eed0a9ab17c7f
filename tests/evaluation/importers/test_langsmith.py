"""LangSmith's exports, made by LangSmith's own tracer and client: runs, trees, rows of a bulk export."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from langgraph_prefetch.errors import TraceFileError
from langgraph_prefetch.evaluation.importers.read import read_trace
from tests.evaluation.importers.recorded import (
    QUESTION,
    TOOL_SECONDS,
    Agent,
    assert_true,
    langsmith_of,
    told,
    write_lines,
)


def tree(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The runs as a tree with ``child_runs``, as ``read_run(load_child_runs=True)`` gives it."""
    by_id = {run["id"]: {**run, "child_runs": []} for run in runs}
    for run in by_id.values():
        if run.get("parent_run_id"):
            by_id[run["parent_run_id"]]["child_runs"].append(run)
    (root,) = (run for run in by_id.values() if not run.get("parent_run_id"))
    return root


def row(run: dict[str, Any]) -> dict[str, Any]:
    """A row of a bulk export: objects are JSON strings."""
    return {name: json.dumps(each) if isinstance(each, dict | list) else each for name, each in run.items()}


def write_parquet(path: Path, runs: list[dict[str, Any]]) -> None:
    """The file of a bulk export: moments are moments, in UTC and without saying so."""

    def moment(written: str | None) -> datetime | None:
        return datetime.fromisoformat(written).astimezone(UTC).replace(tzinfo=None) if written else None

    rows = [{**row(run), **{name: moment(run[name]) for name in ("start_time", "end_time")}} for run in runs]
    parquet.write_table(pa.Table.from_pylist(rows), path, row_group_size=2)


WAYS: dict[str, Any] = {
    "lines": lambda path, runs: write_lines(path, runs),
    "backwards": lambda path, runs: write_lines(path, runs[::-1]),
    "array": lambda path, runs: path.write_text(json.dumps(runs, indent=1), encoding="utf-8"),
    "one line": lambda path, runs: path.write_text(json.dumps(runs), encoding="utf-8"),
    "query response": lambda path, runs: path.write_text(json.dumps({"runs": runs}), encoding="utf-8"),
    "tree": lambda path, runs: path.write_text(json.dumps(tree(runs)), encoding="utf-8"),
    "trees": lambda path, runs: path.write_text(json.dumps({"traces": [tree(runs)]}), encoding="utf-8"),
    "rows": lambda path, runs: write_lines(path, [row(each) for each in runs]),
    "Parquet": lambda path, runs: write_parquet(path, runs),
    "without chains": lambda path, runs: write_lines(path, [each for each in runs if each["run_type"] != "chain"]),
}


@pytest.mark.parametrize("way", WAYS)
def test_exports_are_read_in_every_shape(way: str, tmp_path: Path) -> None:
    """However the runs were exported, the agent's run is in them, with the durations of model and tools."""
    agent = Agent()
    path = tmp_path / "export.json"
    WAYS[way](path, langsmith_of(agent, stream=False))
    trace = read_trace(path)
    assert (trace.format, trace.skipped) == ("langsmith", ())
    (run,) = trace.runs
    assert_true(run, agent)
    for step in run.steps:
        assert step.seconds is not None
        assert step.times is None
        assert all(call.seconds is not None and call.seconds >= TOOL_SECONDS * 0.9 for call in step.calls)


def test_a_damaged_parquet_file_is_named(tmp_path: Path) -> None:
    """Whatever is missing of it."""
    path = tmp_path / "export.parquet"
    write_parquet(path, langsmith_of(Agent(), stream=False))
    whole = path.read_bytes()
    middle = len(whole) // 3
    for damaged in (whole[:-100], whole[:middle] + bytes(300) + whole[middle + 300 :]):
        path.write_bytes(damaged)
        with pytest.raises(TraceFileError, match="a Parquet file that cannot be read"):
            read_trace(path)


def test_parquet_without_pyarrow_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else of `advise` needs it."""
    path = tmp_path / "export.parquet"
    write_parquet(path, langsmith_of(Agent(), stream=False))
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(TraceFileError, match=r'pip install "langgraph-prefetch\[ingest\]"'):
        read_trace(path)


def test_a_streamed_run_knows_its_first_token(tmp_path: Path) -> None:
    """The tracer notes the first token of a streamed message; tokens are spread from there on."""
    (run,) = read_trace(write_lines(tmp_path / "runs.jsonl", langsmith_of(Agent(), stream=True))).runs
    for step in run.steps:
        assert step.first is not None
        assert step.seconds is not None
        assert 0 <= step.first <= step.seconds


def llm(**fields: Any) -> dict[str, Any]:
    return {"id": "m", "trace_id": "t", "run_type": "llm", "name": "chat", "inputs": {}, **fields}


MESSAGE = {"role": "assistant", "content": "Look.", "tool_calls": [{"id": "c", "type": "function"}]}
MESSAGE["tool_calls"][0]["function"] = {"name": "search", "arguments": '{"query": "x"}'}  # type: ignore[index]
OUTPUTS = {
    "choices": {"choices": [{"message": MESSAGE}]},
    "messages": {"messages": [MESSAGE]},
    "nested": {"messages": [[MESSAGE]]},
    "message": {"message": MESSAGE},
    "output": {"output": MESSAGE},
    "itself": MESSAGE,
}


@pytest.mark.parametrize("outputs", OUTPUTS)
def test_model_runs_of_other_clients(outputs: str, tmp_path: Path) -> None:
    """A wrapped client of OpenAI, or a traced function, keeps its message elsewhere; the tool's run has no call id."""
    asked = {"messages": [{"role": "user", "content": QUESTION}]}
    tool = {"id": "s", "trace_id": "t", "run_type": "tool", "name": "search", "inputs": {"query": "x"}}
    model = llm(
        inputs=asked, outputs=OUTPUTS[outputs], start_time="2026-01-01T00:00:00", end_time="2026-01-01T00:00:01"
    )
    tool |= {"outputs": {"output": "found"}, "start_time": "2026-01-01T00:00:02Z", "end_time": "2026-01-01T00:00:02.5Z"}
    (run,) = read_trace(write_lines(tmp_path / "runs.jsonl", [model, tool])).runs
    (step,) = run.steps
    assert (run.question, told(step), step.seconds, step.gap) == (QUESTION, "Look.", 1.0, 1.0)
    (call,) = step.calls
    assert (call.name, call.call_id, call.seconds, call.result) == ("search", "c", 0.5, "found")


def test_malformed_runs_are_named(tmp_path: Path) -> None:
    """A run without an id, a model run without a message, a record that is no run: skipped, with the line."""
    lines = [llm(outputs=MESSAGE), {"run_type": "llm", "id": None}, {"id": "x"}, llm(id="n", outputs={"text": 3}), 7]
    trace = read_trace(write_lines(tmp_path / "runs.jsonl", lines))
    assert [each.line for each in trace.skipped] == [2, 3, 5, 4]
    assert len(trace.runs) == 1


def by_client(run: dict[str, Any]) -> dict[str, Any]:
    """As the client's ``runs.query`` gives it: types in capitals, all runs above instead of the parent."""
    client = pytest.importorskip("langsmith.types.run", reason="a client from before runs.query")
    fields = {name: value for name, value in run.items() if name != "dotted_order"}
    said: dict[str, Any] = json.loads(client.Run(**{**fields, "run_type": run["run_type"].upper()}).model_dump_json())
    assert "parent_run_id" not in said
    return said


def ids_as_text(run: dict[str, Any]) -> dict[str, Any]:
    return {**run, "parent_run_ids": json.dumps(run["parent_run_ids"]), "dotted_order": None}


def in_order(run: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in run.items() if name != "parent_run_ids"}


@pytest.mark.parametrize("way", [by_client, ids_as_text, in_order])
def test_a_sub_agent_is_told_apart_however_its_parents_are_given(way: Any, tmp_path: Path) -> None:
    """What a model says inside a tool is no message of the agent that called the tool."""
    above: dict[str, list[str]] = {"root": [], "outer": ["root"], "tool": ["root"], "inner": ["root", "tool"]}
    kinds = {"root": "chain", "outer": "llm", "tool": "tool", "inner": "llm"}
    runs = [
        {
            "id": name,
            "trace_id": "root",
            "run_type": kinds[name],
            "name": "search" if name == "tool" else name,
            "inputs": {"query": "x"} if name == "tool" else {},
            "outputs": {"output": "found"} if name == "tool" else {"role": "assistant", "content": f"{name} says."},
            "parent_run_ids": parents,
            "dotted_order": ".".join(
                f"20260101T00000{place}000000Z{each}" for place, each in enumerate([*parents, name])
            ),
            "start_time": f"2026-01-01T00:00:0{at}Z",
            "end_time": f"2026-01-01T00:00:0{at + 1}Z",
        }
        for at, (name, parents) in enumerate(above.items())
    ]
    trace = read_trace(write_lines(tmp_path / "runs.jsonl", [way(each) for each in runs]))
    assert trace.skipped == ()
    assert sorted([told(step) for step in run.steps] for run in trace.runs) == [["inner says."], ["outer says."]]
