"""What is written as JSON is read back as it was."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from langgraph_prefetch.errors import ReportError
from langgraph_prefetch.evaluation.reporting import read_report, write_report
from langgraph_prefetch.evaluation.reporting.json_form import of_json, to_json
from langgraph_prefetch.evaluation.reporting.values import Distributions, Reliability, ReliabilityBin, Section
from tests.evaluation.reporting.hostile import hostile_report
from tests.evaluation.reporting.samples import failed_report, full_report


def test_it_comes_back(tmp_path: Path) -> None:
    """Every kind of block, every event, every text; in order."""
    for report in (full_report(30), failed_report(), hostile_report(failed_report())):
        written = write_report(report, tmp_path, forms=["json"])
        assert written.json == tmp_path / "report.json"
        assert written.html is written.markdown is None
        found = read_report(tmp_path / "report.json")
        assert found == report
        assert to_json(found) == to_json(report)
        assert list(found.settings) == list(report.settings)


def test_figures_of_other_libraries_are_written() -> None:
    """Those of numpy are what statistics come as."""
    counted = ReliabilityBin(predicted=np.float64(0.5), observed=np.float64(0.25), n=np.int64(4))  # type: ignore[arg-type]
    report = replace(
        full_report(5), sections=(Section(title="", blocks=(Reliability(caption="", series={"en": (counted,)}),)),)
    )
    assert of_json(to_json(report)) == report


def test_a_later_field_is_skipped_and_an_absent_note_is_empty() -> None:
    """A report of the next release, or of the one before, is read."""
    found = json.loads(to_json(full_report(5)))
    found["mood"] = "good"
    del found["failures"]
    assert of_json(json.dumps(found)) == full_report(5)


def broken(change: Any) -> str:
    found = json.loads(to_json(full_report(5)))
    change(found)
    return json.dumps(found)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "no format version"),
        ("{}", "no format version"),
        (broken(lambda found: found.update(v=2)), "format version 2"),
        (broken(lambda found: found.pop("title")), "report: no SuiteReport"),
        (broken(lambda found: found.update(title=3)), r"report.title: '3' is not what belongs there"),
        (broken(lambda found: found["sections"].append(4)), r"report.sections\[3\]: '4' is no Section"),
        (broken(lambda found: found["sections"][0]["blocks"][0].update(kind="Video")), r"blocks\[0\]: .*'Video'"),
        (broken(lambda found: found["sections"][2]["blocks"][1]["events"][0].pop("at")), r"events\[0\]: no event"),
        (broken(lambda found: found["sections"][0]["blocks"][1]["series"]["bare"].append("x")), r"\['bare'\]\[5\]"),
    ],
)
def test_what_is_no_report_is_refused(text: str, complaint: str) -> None:
    """With the place that is at fault."""
    with pytest.raises(ReportError, match=complaint):
        of_json(text)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Missing, or not text."""
    with pytest.raises(ReportError, match=r"nowhere.json: cannot be read: No such file"):
        read_report(tmp_path / "nowhere.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(ReportError, match=r"binary.json: cannot be read"):
        read_report(tmp_path / "binary.json")


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """Such as one that is a file."""
    (tmp_path / "taken").write_text("")
    with pytest.raises(ReportError, match="taken: cannot be written"):
        write_report(full_report(5), tmp_path / "taken", forms=["json"])
    with pytest.raises(ReportError, match="'pdf' is none of"):
        write_report(full_report(5), tmp_path, forms=["pdf"])  # type: ignore[list-item]


def test_series_of_equal_fields_are_told_apart() -> None:
    """An empty plot comes back as the kind it was."""
    blocks = (Distributions(caption="", unit="", series={}), Reliability(caption="", series={}))
    report = replace(full_report(5), sections=(Section(title="", blocks=blocks),))
    assert of_json(to_json(report)).sections[0].blocks == blocks
