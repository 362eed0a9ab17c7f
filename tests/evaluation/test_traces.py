"""Recordings come from many hands: what is wrong is named, and the rest is read."""

import json
from pathlib import Path

import pytest

from langgraph_prefetch.errors import TraceFileError
from langgraph_prefetch.evaluation.arguments import arguments_of, query_argument
from langgraph_prefetch.evaluation.traces import RecordedStep, read_recording
from tests.evaluation.recordings import SAID, episode, search, write

GOOD = episode(SAID)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "not a list"),
        ('"text"', "not a string"),
        ("3", "not a number"),
        ("{}", "style must be a string, not nothing"),
        ('{"style": "verse", "steps": []}', "style must be one of react_text, think_tags, tool_calls, not 'verse'"),
        ('{"style": "react_text"}', "steps must be a list with at least one step"),
        ('{"style": "react_text", "steps": []}', "steps must be a list with at least one step"),
        ('{"style": "react_text", "steps": [4]}', "step 1: a step is a JSON object, not a number"),
        ('{"style": "react_text", "steps": [{"thought": "x"}]}', "step 1: action must be a string, not nothing"),
        ('{"style": "react_text", "steps": [{"action": "x"}]}', "step 1: thought must be a string, not nothing"),
        ('{"style": "react_text", "steps": [{"thought": "", "action": "x", "query": true}]}', "not true or false"),
        ('{"style": "react_text", "question": 1, "steps": [{}]}', "question must be a string, not a number"),
    ],
)
def test_a_malformed_line_is_named_and_skipped(tmp_path: Path, line: str, reason: str) -> None:
    """The file, the line as an editor counts it, and what is wrong; the lines around it count."""
    path = write(tmp_path / "runs.jsonl", [GOOD, "", line, GOOD])
    recording = read_recording(path)
    assert len(recording.episodes) == 2
    (malformed,) = recording.malformed
    assert (malformed.file, malformed.line) == (str(path), 3)
    assert reason in malformed.reason
    assert str(malformed).startswith(f"{path}:3: ")


def test_a_line_that_is_not_utf_8_is_malformed(tmp_path: Path) -> None:
    """One bad byte costs one line."""
    path = tmp_path / "runs.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.encode() + b"\r\n" + GOOD.encode("utf-16-le").replace(b"\0", b"\xff"))
    recording = read_recording(path)
    assert len(recording.episodes) == 1
    assert [each.reason for each in recording.malformed] == ["not UTF-8 text"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no episode in it"),
        (b"{}\n{}\n", "no episode in it; line 1: style"),
        (b"PK\x03\x04\0\0", "not a text file"),
    ],
)
def test_a_file_without_any_episode_is_an_error(tmp_path: Path, content: bytes, reason: str) -> None:
    """Figures over nothing would look like figures."""
    path = tmp_path / "runs.jsonl"
    path.write_bytes(content)
    with pytest.raises(TraceFileError, match=reason) as raised:
        read_recording(path)
    assert raised.value.path == str(path)


def test_a_file_that_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    """Missing files and folders are named with the system's reason."""
    with pytest.raises(TraceFileError, match="No such file"):
        read_recording(tmp_path / "missing.jsonl")
    with pytest.raises(TraceFileError, match="directory"):
        read_recording(tmp_path)


@pytest.mark.parametrize(
    ("query", "arguments"),
    [
        ("Ada Lovelace", {"query": "Ada Lovelace"}),
        ("", {"query": ""}),
        ({"term": "Ada", "k": 3}, {"term": "Ada", "k": 3}),
        (["Ada", "Byron"], {"query": ["Ada", "Byron"]}),
        (json.dumps({"term": "Ada", "exact": True}), {"term": "Ada", "exact": True}),
        (repr({"term": "Ada", "exact": True}), {"term": "Ada", "exact": True}),
        ("{not an object}", {"query": "{not an object}"}),
        ("{1: 2}", {"query": "{1: 2}"}),
        ("{} and more {}", {"query": "{} and more {}"}),
    ],
)
def test_a_query_becomes_typed_arguments(query: object, arguments: dict[str, object]) -> None:
    """Strings, objects, lists and objects written as strings keep their types."""
    step = RecordedStep(thought="", action="search", query=query)  # type: ignore[arg-type]
    assert arguments_of(step) == arguments


@pytest.mark.parametrize(
    ("queries", "name"),
    [
        (["Ada"], "query"),
        ([], "query"),
        ([{"term": "Ada"}, {"term": "Byron", "k": 3}], "term"),
        ([{"term": "Ada", "k": 3}, {"term": "Byron", "k": 3}], None),
        ([{"k": 3}], None),
        ([{"term": "Ada"}, {"name": "Byron"}], None),
    ],
)
def test_which_argument_a_guess_fills(tmp_path: Path, queries: list[object], name: str | None) -> None:
    """The one required string argument; where there is not exactly one, no guess can be made."""
    lines = [episode(search("…", query)) for query in queries] or [episode(search("…", "Ada", "other"))]
    assert query_argument(read_recording(write(tmp_path / "runs.jsonl", lines)).episodes, "search") == name


def test_who_wrote_the_thoughts_is_kept_where_it_is_said(tmp_path: Path) -> None:
    """Model and language are labels: missing ones, and ones that are no text, are empty, and spoil nothing."""
    bare = json.loads(episode(search("…", "Ada")))
    said = [bare | {"model": " a-model ", "language": "ko"}, bare, bare | {"model": 3, "language": None}]
    recording = read_recording(write(tmp_path / "runs.jsonl", map(json.dumps, said)))
    assert [(each.model, each.language) for each in recording.episodes] == [("a-model", "ko"), ("", ""), ("", "")]
