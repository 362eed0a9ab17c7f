"""A report with a figure that is none is not written, and the error says where it is."""

import dataclasses
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from langgraph_prefetch.errors import ReportError
from langgraph_prefetch.evaluation.reporting import write_report
from langgraph_prefetch.evaluation.reporting.checks import check
from langgraph_prefetch.evaluation.reporting.values import (
    Block,
    Distributions,
    Figure,
    Lines,
    PairedDifferences,
    Reliability,
    ReliabilityBin,
    RunTimeline,
    Section,
    StackedBars,
    SuiteReport,
    Summary,
    Table,
)
from langgraph_prefetch.evaluation.statistics.values import Interval
from langgraph_prefetch.events import RunStarted
from tests.evaluation.reporting.samples import full_report

NAN, INF = math.nan, math.inf


def holding(block: Block) -> SuiteReport:
    return replace(full_report(5), sections=(Section(title="Times", blocks=(block,)),))


def bins(**changes: Any) -> Reliability:
    found = ReliabilityBin(predicted=0.5, observed=0.5, n=3)
    return Reliability(caption="", series={"en": (replace(found, **changes),)})


BROKEN: list[tuple[Block, str]] = [
    (Distributions(caption="", unit="s", series={"bare": (1.0, NAN)}), "series['bare'][1]"),
    (PairedDifferences(caption="", unit="s", first="a", second="b", differences=(-INF,)), "differences[0]"),
    (bins(predicted=NAN), "series['en'][0]"),
    (bins(observed=1.2), "series['en'][0]"),
    (bins(n=-1), "series['en'][0]"),
    (bins(interval=Interval(low=0.2, high=NAN)), "series['en'][0].interval.high"),
    (bins(interval=Interval(low=0.3, high=0.2)), "series['en'][0].interval"),
    (StackedBars(caption="", unit="USD", bars={"bare": {"tokens": INF}}), "bars['bare']['tokens']"),
    (StackedBars(caption="", unit="USD", bars={"bare": {"tokens": -0.1}}), "bars['bare']"),
    (Lines(caption="", x="t", y="c", series={"c": ((0.1, 1.0), (NAN, 1.0))}), "series['c'][1][0]"),
    (RunTimeline(caption="", events=(RunStarted(run_id="r", at=NAN),)), "events[0].at"),
    (Table(caption="", head=("a", "b"), rows=(("x", "nan s"),)), "rows[0][1]"),
    (Table(caption="", head=("a", "b"), rows=(("x", "0.1 [-inf, 0.3]"),)), "rows[0][1]"),
    (Table(caption="", head=("a", "b"), rows=(("x", "NaN"),)), "rows[0][1]"),
    (Table(caption="", head=("a", "b"), rows=(("x",),)), "rows[0]"),
]


@pytest.mark.parametrize(("block", "where"), BROKEN)
def test_the_error_names_the_place(block: Block, where: str) -> None:
    """Down to the series and the number in it."""
    with pytest.raises(ReportError) as raised:
        check(holding(block))
    assert raised.value.where.endswith(f"sections[0].blocks[0].{where}")
    assert raised.value.where in str(raised.value)


def test_nothing_is_written(tmp_path: Path) -> None:
    """Neither a file nor the folder; what an earlier run wrote is as it was."""
    written = write_report(full_report(5), tmp_path / "out", forms=["json", "markdown"])
    assert written.json is not None
    before = written.json.read_bytes()
    with pytest.raises(ReportError):
        write_report(holding(BROKEN[0][0]), tmp_path / "out")
    assert written.json.read_bytes() == before
    with pytest.raises(ReportError):
        write_report(holding(BROKEN[0][0]), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_the_closing_table_is_looked_at() -> None:
    """A mean that is none is found there, too."""
    report = replace(full_report(5), summary=Summary(quality=(Figure(name="faithfulness", value="nan"),)))
    with pytest.raises(ReportError, match=r"summary.quality\[0\].value"):
        check(report)


@pytest.mark.parametrize("text", ["nan bread", "an infant", "Nan said so", "none", "n = 3", "banana", "", "inform"])
def test_words_are_no_figures(text: str) -> None:
    """A model may well talk about nan bread."""
    check(holding(Table(caption="", head=("a", "b"), rows=(("nan", text),))))


def test_a_report_has_limitations() -> None:
    """One without says more than it can."""
    with pytest.raises(ReportError, match="limitations"):
        check(replace(full_report(5), limitations=()))


def test_every_field_with_a_figure_is_among_the_broken_ones() -> None:
    """A new kind of block is checked here as well."""
    kinds = {type(block) for block, _ in BROKEN}
    assert {kind.__name__ for kind in Block.__args__} - {kind.__name__ for kind in kinds} == {"Text"}
    assert all(map(dataclasses.is_dataclass, kinds))
