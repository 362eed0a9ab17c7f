"""What the demo prints."""

import sys

import pytest

from langgraph_prefetch.demo.figures import Figures
from langgraph_prefetch.demo.saving import Saving
from langgraph_prefetch.demo.table import HEAD, WIDTHS, aligned, cells, table
from langgraph_prefetch.demo.trial import Said, Search, Trial
from langgraph_prefetch.report import Report

REPORT = Report(
    search_calls=3,
    served_reasoning=1,
    served_sealed=1,
    speculations=4,
    served_speculations=2,
    hidden_seconds=0.75,
    hideable_seconds=1.0,
)


def trial(*, answer: str = "yes", found: str = "passage", wrong: int = 0) -> Trial:
    bare = Said("yes", (Search("query", "passage"),), 4.0)
    return Trial(bare, Said(answer, (Search("query", found),), 3.0), REPORT, Saving(allowed=0.9), 3, wrong)


def test_a_row_says_all_figures() -> None:
    """Each stands under its title; shares are of the sums."""
    row = dict(zip(HEAD, cells("topic", Figures.of([trial(), trial()])), strict=True))
    assert row == {
        "question": "topic",
        "bare": "8.00 s",
        "wrapped": "6.00 s",
        "saved": "25%",
        "calls": "6",
        "served": "4 (2+2)",
        "hidden": "1.50 s",
        "hideable": "2.00 s",
        "coverage": "67%",
        "accuracy": "50%",
        "amplif.": "1.67",
        "same": "yes",
    }


@pytest.mark.parametrize("differing", [trial(answer="no"), trial(found="another"), trial(wrong=1)])
def test_a_difference_is_seen(differing: Trial) -> None:
    """In the answer, in a passage read, or in a passage searched again; among others that are equal, too."""
    assert cells("", Figures.of([trial()]))[-1] == "yes"
    assert cells("", Figures.of([trial(), differing]))[-1] == "NO"


def test_without_searches_there_are_no_shares() -> None:
    """A model that never searched has no coverage, rather than one of 0 or 1."""
    said = Said("yes", (), 1.0)
    figures = Figures.of([Trial(said, said, Report(), Saving(), 0, 0)])
    assert (figures.coverage, figures.accuracy, figures.amplification) == (None, None, None)
    assert cells("", figures)[8:11] == ("-", "-", "-")


def test_plain_rows_are_of_one_width(capsys: pytest.CaptureFixture[str]) -> None:
    """Figures stand under each other without a terminal, and titles fit."""
    with table() as add_row:
        add_row("without added latency", Figures.of([trial()] * 8))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == aligned(HEAD)
    assert {len(line) for line in lines} == {sum(WIDTHS) + 2 * len(WIDTHS) - 2}


@pytest.mark.parametrize("rich", [True, False])
def test_a_terminal_gets_the_same_figures(
    rich: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Drawn where rich is installed, plain where it is not."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    if not rich:
        monkeypatch.setitem(sys.modules, "rich", None)
    with table() as add_row:
        add_row("topic", Figures.of([trial()]))
    printed = capsys.readouterr().out
    assert ("─" in printed) == rich
    for cell in cells("topic", Figures.of([trial()])):
        assert cell in printed
