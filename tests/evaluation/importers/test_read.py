"""Which format a file is in is found out by its contents; what cannot be read is an error that says what was tried."""

import json
from pathlib import Path
from typing import Any

import pytest

from langgraph_prefetch.errors import ConfigurationError, TraceFileError
from langgraph_prefetch.evaluation.importers import records
from langgraph_prefetch.evaluation.importers.read import FORMATS, READERS, read_trace
from langgraph_prefetch.evaluation.importers.times import seconds_of
from langgraph_prefetch.events import SearchCallAnswered
from langgraph_prefetch.observe.event_lines import to_line
from tests.evaluation.recordings import RUNS, write

THREAD = {"messages": [{"role": "user", "content": "?"}, {"role": "assistant", "content": "Yes."}]}


def answered(**fields: Any) -> SearchCallAnswered:
    given: dict[str, Any] = {
        "run_id": "r",
        "step": 1,
        "at": 1.0,
        "call_id": None,
        "tool": "search",
        "source": None,
        "speculation_id": None,
        "late": False,
        "reason": "none",
        "waited_seconds": 0.5,
        "retrieval_seconds": 0.5,
        "lead_seconds": 0.0,
        "hideable_seconds": 0.1,
        "hidden_seconds": 0.0,
    }
    return SearchCallAnswered(**{**given, **fields})


def test_our_own_episodes(tmp_path: Path) -> None:
    """A call for each action that runs a tool; `finish` runs none."""
    trace = read_trace(write(tmp_path / "runs.jsonl", [*RUNS, "{}"]))
    assert (trace.format, len(trace.runs), trace.skipped_count) == ("episodes", 4, 1)
    assert [[call.name for call in step.calls] for step in trace.runs[1].steps] == [
        ["search"],
        ["write_note"],
        ["search"],
        [],
    ]


def test_our_own_event_files(tmp_path: Path) -> None:
    """They hold no text, and so no runs; what happened is in their events."""
    path = tmp_path / "events.jsonl"
    path.write_text(to_line(answered()) + "broken\n", encoding="utf-8")
    trace = read_trace(path)
    assert (trace.format, trace.runs, len(trace.events), trace.skipped_count) == ("events", (), 1, 1)
    path.write_text(to_line(answered()).replace('"v": "1', '"v": "9'), encoding="utf-8")
    with pytest.raises(TraceFileError, match="update langgraph-prefetch"):
        read_trace(path)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "nothing in it"),
        (b"\n \n", "nothing in it"),
        (b"nonsense\n", "nothing in it; line 1: not JSON"),
        (b'{"a": 1}\n', "none of the known formats"),
        (b"[]", "nothing in it"),
        (b"PAR1....", "a Parquet file"),
        (b"\x1f\x8b\x08", "a compressed file"),
        (b"a\0b", "not a text file"),
        (b'{"messages": [{"role": "user", "content": "?"}]}', "no message of a model in it, read as messages"),
        (b'{"id": "x", "run_type": "chain"}', "no message of a model in it, read as langsmith"),
        (b'{"steps": [], "style": "x"}', "no episode in it"),
        (b"\xff\xfe{}", "nothing in it; line 1: not UTF-8"),
        (b"[\n\xff\n]", "not UTF-8 text"),
        (b"[" * 100_000, "nothing in it; line 1: not JSON"),
    ],
)
def test_files_that_hold_no_run(content: bytes, complaint: str, tmp_path: Path) -> None:
    """One error that names the file and what is wrong with it."""
    path = tmp_path / "trace"
    path.write_bytes(content)
    with pytest.raises(TraceFileError) as raised:
        read_trace(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert complaint in str(raised.value)


def test_an_unknown_format_lists_what_was_tried(tmp_path: Path) -> None:
    """All formats, with what their records look like; nothing of the file's own text."""
    path = tmp_path / "trace.jsonl"
    path.write_text('{"password": "hunter2"}\n', encoding="utf-8")
    with pytest.raises(TraceFileError) as raised:
        read_trace(path)
    assert all(f"\n  {name}: " in str(raised.value) for name in FORMATS)
    assert "hunter2" not in str(raised.value)
    assert set(READERS) == set(FORMATS)


def test_a_format_may_be_forced(tmp_path: Path) -> None:
    """What is of another format is then skipped; a format that does not exist is named."""
    path = tmp_path / "trace.jsonl"
    path.write_text(json.dumps(THREAD) + "\n", encoding="utf-8")
    assert read_trace(path, "messages").runs
    with pytest.raises(TraceFileError, match="read as langsmith; line 1: no run of LangSmith"):
        read_trace(path, "langsmith")
    with pytest.raises(ConfigurationError, match="Did you mean 'messages'"):
        read_trace(path, "message")


def test_mixed_formats_keep_to_the_first(tmp_path: Path) -> None:
    """Records of another format in the same file are skipped, named and counted."""
    lines = [json.dumps({"note": 1}), json.dumps(THREAD), *RUNS, json.dumps(THREAD)]
    trace = read_trace(write(tmp_path / "mixed.jsonl", lines))
    assert (trace.format, len(trace.runs), trace.skipped_count) == ("messages", 2, 5)


def test_a_line_that_is_too_long_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A huge line costs no more memory than the bound; the others are read."""
    monkeypatch.setattr(records, "MAX_RECORD_BYTES", 1_000)
    lines = [json.dumps(THREAD), json.dumps({"messages": "x" * 5_000}), json.dumps(THREAD)]
    trace = read_trace(write(tmp_path / "long.jsonl", lines))
    assert (len(trace.runs), [str(each.reason) for each in trace.skipped]) == (2, ["longer than 1,000 bytes"])
    assert trace.skipped[0].line == 2


def test_an_array_that_is_too_large_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are read one by one, an array is not; the error says so."""
    monkeypatch.setattr(records, "MAX_ARRAY_BYTES", 100)
    path = tmp_path / "array.json"
    path.write_text(json.dumps([THREAD] * 5, indent=1), encoding="utf-8")
    with pytest.raises(TraceFileError, match="write its elements as lines"):
        read_trace(path)


def test_an_array_that_was_cut_off(tmp_path: Path) -> None:
    """The elements before the cut are read; where it was cut is named."""
    path = tmp_path / "array.json"
    path.write_text(json.dumps([THREAD] * 3, indent=1)[:-30], encoding="utf-8")
    trace = read_trace(path)
    assert len(trace.runs) == 2
    assert trace.skipped_count == 1
    assert "what follows was not read" in trace.skipped[0].reason
    assert trace.skipped[0].line > 10


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    """Named, with the system's reason."""
    with pytest.raises(TraceFileError, match="No such file"):
        read_trace(tmp_path / "missing")
    with pytest.raises(TraceFileError, match="Is a directory"):
        read_trace(tmp_path)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (12.5, 12.5),
        (1_700_000_000, 1.7e9),
        (1_700_000_000_000, 1.7e9),
        (1_700_000_000_000_000, 1.7e9),
        (1_700_000_000_000_000_000, 1.7e9),
        ("2023-11-14T22:13:20Z", 1.7e9),
        ("2023-11-14T22:13:20", 1.7e9),
        ("2023-11-14T23:13:20+01:00", 1.7e9),
        ("yesterday", None),
        (True, None),
        (float("nan"), None),
        (None, None),
    ],
)
def test_moments_in_every_unit(value: object, seconds: float | None) -> None:
    """Seconds, finer units by their size, and ISO 8601, in UTC where it says nothing."""
    assert seconds_of(value) == seconds
