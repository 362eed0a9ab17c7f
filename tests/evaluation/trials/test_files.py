"""Questions, rows and settings on disk: read strictly, and safe from whatever ends the writing."""

import json
from pathlib import Path

import pytest

from langgraph_prefetch.errors import ConfigurationError, EvaluationFileError, OtherEvaluationError
from langgraph_prefetch.evaluation.rows import RunRow, SearchRow
from langgraph_prefetch.evaluation.trials import EventLog, RowFile, claim, key_of, read_questions
from langgraph_prefetch.events import RunStarted

SEARCH = SearchRow(query="q", answered="ready", seconds=0.1, passages=("one", "two"), as_real=True)


def row(question: str = "q0", **values: object) -> RunRow:
    return RunRow(
        suite="speed",
        arm="bare",
        question_id=question,
        question="?",
        searches=(SEARCH,),
        **values,  # type: ignore[arg-type]
    )


def test_a_row_comes_back_as_it_was_written(tmp_path: Path) -> None:
    """Nested searches, passages and letters of every script included."""
    written = row(answer="답은 1,947미터이다 \u2028 …", kind="fact", warm=True)
    RowFile(tmp_path / "rows.jsonl").add(written)
    assert RowFile(tmp_path / "rows.jsonl").rows == (written,)


@pytest.mark.parametrize("kept", [1, 20, -2])
def test_a_torn_last_line_is_cut_off_and_its_run_made_again(tmp_path: Path, kept: int) -> None:
    """As after `kill -9` in the middle of a write: what was whole stays, and what follows is whole."""
    path = tmp_path / "rows.jsonl"
    rows = RowFile(path)
    rows.add(row("q0"))
    whole = path.read_bytes()
    rows.add(row("q1"))
    torn = path.read_bytes()[len(whole) :][:kept]
    path.write_bytes(whole + torn)
    again = RowFile(path)
    assert [each.question_id for each in again.rows] == ["q0"]
    assert not again.has(key_of(row("q1")))
    again.add(row("q1"))
    assert [each.question_id for each in RowFile(path).rows] == ["q0", "q1"]


def test_a_run_that_failed_is_made_again_and_its_later_row_counts(tmp_path: Path) -> None:
    """A row with an error says that there is no answer yet."""
    rows = RowFile(tmp_path / "rows.jsonl")
    rows.add(row(error="TimeoutError"))
    assert not rows.has(key_of(row()))
    rows.add(row(answer="found"))
    assert [each.answer for each in RowFile(tmp_path / "rows.jsonl").rows] == ["found"]


def test_a_figure_that_is_none_never_reaches_the_file(tmp_path: Path) -> None:
    """NaN would poison every mean that is taken of the rows."""
    rows = RowFile(tmp_path / "rows.jsonl")
    with pytest.raises(ValueError, match="JSON compliant"):
        rows.add(row(seconds=float("nan")))
    assert not (tmp_path / "rows.jsonl").exists()


@pytest.mark.parametrize("line", ["{}", "[]", "no json", '{"suite": 1', '{"suite": "s", "arm": "a", "searches": 3}'])
def test_a_line_that_is_no_row_is_named(tmp_path: Path, line: str) -> None:
    """In the middle of a file it is no torn end, and somebody has to look at it."""
    (tmp_path / "rows.jsonl").write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(EvaluationFileError, match="line 1"):
        RowFile(tmp_path / "rows.jsonl")


def test_questions_have_ids_of_their_own_or_their_lines(tmp_path: Path) -> None:
    """What is not known of them is left out; other names are nobody's business here."""
    path = tmp_path / "questions.jsonl"
    path.write_text(
        '{"question": "one?"}\n\n{"question": "two?", "id": 7, "kind": "fact", "extra": []}\n', encoding="utf-8"
    )
    first, second = read_questions(path)
    assert (first.id, first.kind, first.reference) == ("line-1", "", None)
    assert (second.id, second.kind) == ("7", "fact")


@pytest.mark.parametrize(
    "text",
    [
        '{"question": " "}',
        '{"id": 1}',
        "[]",
        "{",
        '{"question": "a", "id": 1}\n{"question": "b", "id": "1"}',
        '{"question": "a", "kind": 1}',
    ],
)
def test_questions_that_are_none_are_refused(tmp_path: Path, text: str) -> None:
    """With the file and the line."""
    (tmp_path / "questions.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(EvaluationFileError, match=r"questions\.jsonl"):
        read_questions(tmp_path / "questions.jsonl")


def test_an_empty_set_of_questions_is_no_evaluation(tmp_path: Path) -> None:
    """An evaluation of nothing would report nothing as if it were something."""
    (tmp_path / "questions.jsonl").write_text("\n \n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="at least one"):
        read_questions(tmp_path / "questions.jsonl")


def test_a_folder_belongs_to_one_evaluation(tmp_path: Path) -> None:
    """It is gone on with only when asked for, and only with the settings it was made with; the error names others."""
    settings = {"seed": 1, "model": None, "tools": ["search"]}
    claim(tmp_path / "out", settings, resume=False)
    claim(tmp_path / "out", settings, resume=True)
    with pytest.raises(OtherEvaluationError, match="--resume"):
        claim(tmp_path / "out", settings, resume=False)
    with pytest.raises(OtherEvaluationError, match="another model and seed"):
        claim(tmp_path / "out", {**settings, "seed": 2, "model": "other"}, resume=True)
    with pytest.raises(OtherEvaluationError, match="another embedder"):
        claim(tmp_path / "out", {**settings, "embedder": "other"}, resume=True)


def test_settings_that_cannot_be_read_are_no_settings(tmp_path: Path) -> None:
    """A file that somebody broke is named, not overwritten."""
    (tmp_path / "settings.json").write_text("{", encoding="utf-8")
    with pytest.raises(EvaluationFileError, match=r"settings\.json"):
        claim(tmp_path, {}, resume=True)


def test_events_of_a_run_come_back_and_a_torn_end_costs_a_drawing_alone(tmp_path: Path) -> None:
    """The events of every other run are still there."""
    log = EventLog(tmp_path / "events.jsonl")
    log.add(key_of(row()), [RunStarted(run_id="r", at=1.0)])
    with open(log.path, "a", encoding="utf-8") as file:
        file.write(json.dumps({"run": ["torn"]})[:-3])
    assert log.events_of(key_of(row())) == (RunStarted(run_id="r", at=1.0),)
    assert log.events_of(key_of(row("other"))) == ()
