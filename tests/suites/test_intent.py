"""The intent suite: recordings in, precision, recall, calibration and sweeps out, offline."""

import json
from pathlib import Path
from typing import Any

import pytest

from langgraph_prefetch.errors import ConfigurationError, TraceFileError
from langgraph_prefetch.evaluation.reporting.values import Lines, Reliability, SuiteReport, Table, Text
from langgraph_prefetch.evaluation.reporting.write import write_report
from langgraph_prefetch.suites.running import Prepared, Request, prepare
from tests.evaluation.recordings import ANSWERED, FALSE_START, SAID, UNSAID, episode, finish, write


def prepared(folder: Path, *recordings: Path, **options: Any) -> Prepared:
    inputs = {"recordings": recordings} if recordings else {}
    given: dict[str, Any] = {"suite": "intent", "out": folder / "out", "smoke": True, "inputs": inputs, **options}
    return prepare(Request(**given), print)


def tables(report: SuiteReport) -> dict[str, Table]:
    return {
        section.title: next(block for block in section.blocks if isinstance(block, Table))
        for section in report.sections
        if any(isinstance(block, Table) for block in section.blocks)
    }


def test_smoke_end_to_end(tmp_path: Path) -> None:
    """The recordings that ship, in four languages: every section, plots of both kinds, and all files of the report."""
    ready = prepared(tmp_path)
    assert ready.plan().runs == 4 * 6
    report = ready.run()
    assert {row[0].rpartition(" ")[2] for row in tables(report)["Is a search foretold?"].rows} == {
        "en",
        "ko",
        "ja",
        "zh",
    }
    blocks = [block for section in report.sections for block in section.blocks]
    assert any(isinstance(block, Reliability) for block in blocks)
    assert any(isinstance(block, Lines) for block in blocks)
    assert any("written for it, by people who knew the cues" in each for each in report.limitations)
    assert not report.failures
    files = write_report(report, tmp_path / "report")
    assert files.html is not None
    lines = (tmp_path / "out" / "forecasts.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == int(report.settings["thoughts"])
    assert set(json.loads(lines[0])) == {"file", "model", "language", "p_search", "searched"}


def test_figures_of_recordings_of_your_own(tmp_path: Path) -> None:
    """Three thoughts that announce a search, of which two make one; one search that nothing announced."""
    runs = write(tmp_path / "mine.jsonl", [episode(SAID, UNSAID, FALSE_START), episode(SAID, ANSWERED)])
    report = prepared(tmp_path, runs).run()
    (row,) = tables(report)["Is a search foretold?"].rows
    assert row[:4] == ("mine · en", "5", "3", "3")
    assert row[4].startswith("66.7% (")
    assert row[5].startswith("66.7% (")
    sweep = {row[0]: row[1:] for row in tables(report)["What the threshold does"].rows}
    assert sweep["mine, 0.7"][0] == "66.7%"
    looks = {row[0]: row[1:] for row in tables(report)["What polling the stream costs"].rows}
    assert looks["mine, every token"][1] == "100.0%"
    assert float(looks["mine, every 500 ms"][1].rstrip("%")) < 100
    assert not any("written for it" in each for each in report.limitations)
    said = [
        paragraph
        for section in report.sections
        if section.title == "What became of the hypotheses"
        for block in section.blocks
        if isinstance(block, Text)
        for paragraph in block.paragraphs
    ]
    assert said[1].endswith("0 of 1; not mine · en.")
    assert said[2].endswith("1 of 1.")


def test_no_text_of_a_recording_leaves_it(tmp_path: Path) -> None:
    """Thoughts and queries are the user's: neither rows nor reports have them."""
    runs = write(tmp_path / "mine.jsonl", [episode(SAID, ANSWERED, question="a question of mine")])
    report = prepared(tmp_path, runs).run()
    write_report(report, tmp_path / "out", forms=("json", "markdown"))
    for path in (tmp_path / "out").iterdir():
        text = path.read_text(encoding="utf-8")
        assert "Ada Lovelace" not in text
        assert "a question of mine" not in text


def test_recordings_without_a_search_and_with_broken_lines(tmp_path: Path) -> None:
    """What has no meaning there is said, and not shown as 0; what was left out is counted."""
    runs = write(tmp_path / "none.jsonl", [episode(FALSE_START, finish("That is all.")), "{", "[]"])
    report = prepared(tmp_path, runs).run()
    (row,) = tables(report)["Is a search foretold?"].rows
    assert row[5] == "none"
    assert any("no step searches with the named tools" in each for each in report.limitations)
    assert any(each.startswith("none: 2 malformed lines") for each in report.limitations)


def test_the_search_tool_may_have_another_name(tmp_path: Path) -> None:
    """As the recording calls it."""
    runs = write(tmp_path / "runs.jsonl", [episode({**SAID, "action": "web_search"}, ANSWERED)])
    report = prepared(tmp_path, runs, tools=("web_search",)).run()
    assert tables(report)["Is a search foretold?"].rows[0][2] == "1"


def test_weights_that_never_saw_a_file_need_another_of_its_language(tmp_path: Path) -> None:
    """With one file there is no such section; with two, each is weighed by the other."""
    lines = [episode(SAID, UNSAID, ANSWERED, question=f"Question {number}?") for number in range(20)]
    files = [write(tmp_path / f"{name}.jsonl", lines) for name in ("one", "two")]
    title = "With weights that never saw the file"
    assert title not in tables(prepared(tmp_path, files[0], out=tmp_path / "alone").run())
    rows = tables(prepared(tmp_path, *files).run())[title].rows
    assert [row[0] for row in rows] == [
        f"{name}, {weights}" for name in ("one", "two") for weights in ("shipped", "fitted elsewhere")
    ]


def suite_file(folder: Path, text: str) -> str:
    path = folder / "own.toml"
    head = (
        'suite = "intent"\ntitle = "own"\nprimary_endpoint = "any"\nhypotheses = ["any"]\nseed = 1\nrecordings = []\n'
    )
    path.write_text(head + text, encoding="utf-8")
    return str(path)


SWEEP = "[sweep]\nthresholds = [0.7]\nlook_every_seconds = [0.0]\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", r"needs a table \[sweep\]"),
        (SWEEP, r"needs a table \[replay\]"),
        (SWEEP + "threshholds = [1]\n[replay]\n", r"sweep\.threshholds is not known.*Did you mean 'thresholds'"),
        (SWEEP.replace("0.7", "1.7") + "[replay]\n", r"sweep\.thresholds must be from 0 to 1, not 1\.7"),
        (SWEEP.replace("[0.7]", "[]") + "[replay]\n", r"sweep\.thresholds must be a list of at least one number"),
        (SWEEP.replace("[0.0]", "[0.1]") + "[replay]\n", "must begin with 0, every token"),
        (SWEEP.replace("[0.0]", "[nan]") + "[replay]\n", r"sweep\.look_every_seconds must be from 0"),
        (SWEEP + "[replay]\ntokens_per_second = 0\n", "tokens_per_second must be above 0"),
        ("threshold = 2\n" + SWEEP + "[replay]\n", "threshold must be from 0 to 1"),
        (SWEEP + "[replay]\n", "there are no recordings"),
    ],
)
def test_settings_that_make_no_sense_are_named(tmp_path: Path, text: str, said: str) -> None:
    """Before anything is read."""
    with pytest.raises(ConfigurationError, match=said):
        prepared(tmp_path, suite=suite_file(tmp_path, text)).plan()


def test_a_recording_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Before anything is measured."""
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    with pytest.raises(TraceFileError, match=r"empty\.jsonl: no episode in it"):
        prepared(tmp_path, empty).plan()
