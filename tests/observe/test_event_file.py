"""Events become lines and lines become events, also those of other releases and of disks that were full."""

import dataclasses
import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.errors import EventFileError
from langgraph_prefetch.events import Event, RunEnded, SearchCallAnswered, StepEnded, StepStarted, Trouble
from langgraph_prefetch.observe.event_file import MAX_LINE_BYTES, MAX_NAMED
from langgraph_prefetch.observe.event_lines import of_line, to_line
from langgraph_prefetch.observe.jsonl import read_events
from langgraph_prefetch.testing.sink_contract import sample_events

finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e12, max_value=1e12)


def write(path: Path, *lines: str | bytes) -> Path:
    path.write_bytes(b"".join(line if isinstance(line, bytes) else line.encode() for line in lines))
    return path


def step(**changes: Any) -> str:
    fields = {"v": "1.1", "event": "StepStarted", "run_id": "r", "step": 1, "at": 2.0, **changes}
    return json.dumps({name: value for name, value in fields.items() if value != "gone"}) + "\n"


@pytest.mark.parametrize("kind", get_args(Event))
def test_every_event_comes_back_as_it_was(kind: type[Any]) -> None:
    """Each type with every field, and each line says its version and its type."""
    for event in (each for each in sample_events() if type(each) is kind):
        line = to_line(event)
        assert of_line(line) == event
        assert json.loads(line)["v"] == "1.1"
        assert json.loads(line)["event"] == kind.__name__
        assert line.count("\n") == 1


@given(at=finite, where=st.text(st.characters(codec=None)), slices=st.lists(st.integers(0, 10**6)))
def test_any_text_and_number_comes_back(at: float, where: str, slices: list[int]) -> None:
    """Line breaks, lone surrogates and every script stay on one line of ASCII."""
    for event in (
        Trouble(at=at, where=where, error=where),
        StepEnded(run_id=where, step=1, at=at, pieces=3, slices=tuple(slices), call_at=at),
    ):
        line = to_line(event)
        assert line.isascii()
        assert line.endswith("\n")
        assert line.count("\n") == 1
        assert of_line(line) == event


def test_queries_are_only_in_lines_of_events_that_hold_them() -> None:
    """Without `log_queries` no line has a place for a query."""
    (answered,) = (each for each in sample_events() if isinstance(each, SearchCallAnswered))
    assert "query" not in to_line(answered)
    assert of_line(to_line(dataclasses.replace(answered, query="x"))) == dataclasses.replace(answered, query="x")


def test_what_a_later_minor_version_adds_is_passed_over(tmp_path: Path) -> None:
    """New fields are ignored, and new types are counted; the rest is read."""
    later = json.dumps({"v": "1.7", "event": "StepPaused", "run_id": "r", "at": 1.0}) + "\n"
    path = write(tmp_path / "e.jsonl", step(v="1.7", colour="red"), later, later, step(step=2))
    events = read_events(path)
    assert list(events) == [StepStarted(run_id="r", step=1, at=2.0), StepStarted(run_id="r", step=2, at=2.0)]
    assert (events.skipped, dict(events.unknown)) == (0, {"StepPaused": 2})


def test_what_an_older_version_lacks_is_filled_in() -> None:
    """A field that did not exist yet is zero, empty or unknown."""
    ended = of_line('{"v": "0.3", "event": "StepEnded", "run_id": "r", "step": 1, "at": 3}')
    assert ended == StepEnded(run_id="r", step=1, at=3.0, pieces=0)
    answered = of_line('{"v": "0.3", "event": "SearchCallAnswered", "run_id": "r", "step": 1, "at": 3, "tool": "s"}')
    assert isinstance(answered, SearchCallAnswered)
    assert (answered.source, answered.hidden_seconds, answered.late, answered.reason) == (None, 0.0, False, "")


def test_a_newer_major_version_is_named(tmp_path: Path) -> None:
    """What may mean something else is not guessed at; the lines before it are read."""
    events = read_events(write(tmp_path / "e.jsonl", step(), step(v="2.1")))
    assert next(events) == StepStarted(run_id="r", step=1, at=2.0)
    with pytest.raises(EventFileError, match=r"e\.jsonl: line 2: format version 2\.1: .*reads up to 1\.x; update"):
        next(events)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("nonsense\n", "not JSON"),
        ('{"v": "1.0", "event": "StepStarted", "run_id": "r"', "not JSON"),
        ("[1, 2]\n", "not an object"),
        ("[" * 100_000 + "\n", "nested too deeply"),
        (b"\xff\xfe{}\n", "not UTF-8"),
        ("{" + " " * MAX_LINE_BYTES + "}\n", "longer than"),
        ('{"event": "StepStarted"}\n', "no format version"),
        (step(v=1), "no format version"),
        (step(v="one"), "no format version"),
        (step(at="gone"), "no 'at'"),
        (step(run_id="gone"), "no 'run_id'"),
        (step(at="soon"), "'at' is 'soon'"),
        (step(at=float("nan")), "'at' is 'nan'"),
        (step(at=1e300), "'at' is"),
        (step(at=10**400), "'at' is"),
        (step(step=True), "'step' is 'True'"),
        (step(step=1.5), "'step' is '1.5'"),
        (step(event="StepEnded", slices=["a"]), "'slices' is 'a'"),
        (step(event="SpeculationEnded", speculation_id="s", tool="t", source="dream", fate="served"), "dream"),
    ],
)
def test_a_line_that_holds_no_event_is_skipped_and_named(tmp_path: Path, line: str | bytes, reason: str) -> None:
    """With its file, its number and the reason; the lines around it are read."""
    path = write(tmp_path / "e.jsonl", step(), "\n", line, b"" if line[-1:] in ("\n", b"\n") else b"\n", step(step=2))
    events = read_events(path)
    assert [event.step for event in events if isinstance(event, StepStarted)] == [1, 2]
    assert events.skipped == 1
    (named,) = events.malformed
    assert named.startswith(f"{path}:3: ")
    assert reason in named


def test_a_file_of_nonsense_is_counted_in_bounded_memory(tmp_path: Path) -> None:
    """The first lines are named, all are counted."""
    events = read_events(write(tmp_path / "e.jsonl", "x\n" * 1_000))
    assert list(events) == []
    assert (events.skipped, len(events.malformed)) == (1_000, MAX_NAMED)


def test_lines_are_read_as_they_are_asked_for(tmp_path: Path) -> None:
    """A file larger than memory can be read."""
    path = write(tmp_path / "e.jsonl", *(step(step=number) for number in range(1, 4)))
    events = read_events(path)
    first = next(events)
    assert isinstance(first, StepStarted)
    with open(path, "ab") as file:
        file.write(to_line(RunEnded(run_id="r", at=9.0, idle=False)).encode())
    assert len(list(events)) == 3


def test_a_byte_order_mark_is_no_part_of_the_first_line(tmp_path: Path) -> None:
    """Files that went through an editor of Windows are read."""
    assert len(list(read_events(write(tmp_path / "e.jsonl", b"\xef\xbb\xbf", step())))) == 1


@pytest.mark.parametrize(("name", "reason"), [("missing.jsonl", "No such file"), (".", "directory")])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str, reason: str) -> None:
    """The error is one of ours, with the path."""
    with pytest.raises(EventFileError, match=reason):
        list(read_events(tmp_path / name))
