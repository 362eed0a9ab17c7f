"""A plot in words says what its picture shows."""

from dataclasses import replace
from html import escape
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.evaluation.reporting.plain import clipped, five, label, printable, shown, thinned
from langgraph_prefetch.evaluation.reporting.values import (
    Distributions,
    Lines,
    PairedDifferences,
    Reliability,
    ReliabilityBin,
    RunTimeline,
    StackedBars,
)
from langgraph_prefetch.evaluation.reporting.words import Plot, described
from tests.observe.timeline.samples import run_events

EMPTY: list[Plot] = [
    Distributions(caption="", unit="s", series={"bare": ()}),
    Distributions(caption="", unit="s", series={}),
    PairedDifferences(caption="", unit="s", first="bare", second="wrapped", differences=()),
    Reliability(caption="", series={"en": (ReliabilityBin(predicted=0.5, observed=0.0, n=0),)}),
    StackedBars(caption="", unit="USD", bars={"bare": {}}),
    Lines(caption="", x="threshold", y="coverage", series={"c": ()}),
    RunTimeline(caption="", events=()),
]


@pytest.mark.parametrize("plot", EMPTY)
def test_nothing_to_draw_is_said(plot: Plot) -> None:
    """In a sentence, with no table and so no picture."""
    words = described(plot)
    assert words.sentence.startswith("Nothing to draw: ")
    assert words.table is None


def test_distributions() -> None:
    """Median and n in the sentence; the table has the quartiles. A series without values says so."""
    words = described(Distributions(caption="Times", unit="s", series={"bare": (1, 2, 3, 4, 10), "direct": ()}))
    assert words.sentence == "bare: median 3 s (n = 5); direct: no values."
    assert words.table is not None
    assert words.table.caption == "Times (s)"
    assert words.table.rows == (("bare", "5", "1", "2", "3", "4", "10"), ("direct", "0", *["none"] * 5))


def test_paired_differences() -> None:
    """Which way round, the median, and how many pairs fell on each side."""
    plot = PairedDifferences(caption="", unit="s", first="bare", second="wrapped", differences=(-2, -1, -1, 0, 1))
    said = described(plot).sentence
    assert said.startswith("Difference of each pair, wrapped minus bare: median -1 s (n = 5 pairs).")
    assert said.endswith("Of these, wrapped needed less in 3, more in 1, the same in 1.")


def test_reliability() -> None:
    """The gap is the expected calibration error: |predicted - observed|, weighted by n. Empty bins count nothing."""
    bins = [(0.1, 0.2, 30), (0.9, 0.6, 10), (0.5, 0.0, 0)]
    plot = Reliability(
        caption="", series={"en": tuple(ReliabilityBin(predicted=p, observed=o, n=n) for p, o, n in bins)}
    )
    words = described(plot)
    assert words.sentence == "en: predicted and observed shares differ by 0.150 on average (n = 40)."
    assert words.table is not None
    assert [row[-1] for row in words.table.rows] == ["30", "10"]


def test_bars() -> None:
    """The total is the exact sum of its parts, rounded once."""
    plot = StackedBars(caption="", unit="USD", bars={"a": {f"part {n}": 0.1 for n in range(10)}, "b": {"other": 2.0}})
    words = described(plot)
    assert words.table is not None
    assert words.table.rows[-1] == ("total", "1", "2")
    assert words.table.rows[0] == ("part 0", "0.1", "none")
    assert "b: 2 USD, of which other 100%" in words.sentence


def test_lines() -> None:
    """Where each is lowest and highest; a long one is thinned, and says so."""
    plot = Lines(
        caption="Sweep",
        x="t",
        y="share",
        series={"c": ((0.1, 0.9), (0.5, 0.4)), "w": ((0.5, 0.2),), "f": ((0.1, 1), (0.5, 1))},
    )
    words = described(plot)
    assert words.sentence.startswith(
        "c: share from 0.4 (at 0.5) to 0.9 (at 0.1); w: share 0.2 at 0.5; f: share 1 throughout."
    )
    assert words.table is not None
    assert words.table.rows == (("0.1", "0.9", "none", "1"), ("0.5", "0.4", "0.2", "1"))
    long = described(replace(plot, series={"c": tuple((float(x), float(x)) for x in range(1_000))}))
    assert long.table is not None
    assert (len(long.table.rows), long.table.note) == (40, "40 of 1000 places.")
    assert (long.table.rows[0][0], long.table.rows[-1][0]) == ("0", "999")


def test_a_run() -> None:
    """Its calls, what was hidden, and each mark in order of time; a long one is cut, and says so."""
    words = described(RunTimeline(caption="", events=tuple(run_events(steps=4))))
    assert "with 4 model calls and 4 search calls, of which 3 answered ahead of time" in words.sentence
    assert words.table is not None
    begins = [float(row[0]) for row in words.table.rows]
    assert begins == sorted(begins)
    assert any("cancelled: tool write_note ran" in row[-1] for row in words.table.rows)
    long = described(RunTimeline(caption="", events=tuple(run_events(steps=300)))).table
    assert long is not None
    assert long.note.startswith("The first 200 of ")


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60))
def test_quartiles_are_numpys(values: list[float]) -> None:
    """By linear interpolation, which is numpy's default."""
    assert five(values) == pytest.approx(tuple(np.quantile(values, [0, 0.25, 0.5, 0.75, 1])), rel=1e-9, abs=1e-9)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=400), st.integers(2, 50))
def test_thinning_keeps_the_ends(values: list[float], most: int) -> None:
    """And no more than was asked for, in order."""
    kept = thinned(values, most)
    assert len(kept) == min(most, len(values))
    assert (kept[0], kept[-1]) == (min(values), max(values))
    assert list(kept) == sorted(kept)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1_234_567.8, "1,234,568"),
        (6.25, "6.25"),
        (0.1 + 0.2, "0.3"),
        (-0.00061, "-0.00061"),
        (3e-7, "3.00e-07"),
    ],
)
def test_figures_have_four_digits_that_count(value: float, text: str) -> None:
    """Never more, however large or small."""
    assert shown(value) == text


@given(st.text())
def test_what_is_printable_fits_any_page(text: str) -> None:
    """One line of valid UTF-8 that XML can hold, and unchanged if printed again."""
    found = printable(text)
    assert ElementTree.fromstring(f"<text>{escape(found)}</text>").text == (found or None)
    assert found.encode().decode() == found
    assert found == printable(found)
    assert "\n" not in found


def test_long_texts_say_how_much_is_missing() -> None:
    """In a cell; in a drawing there is room for the dots alone, and wide letters count twice."""
    assert clipped("x" * 500, 300).endswith("xx… (201 more characters)")
    assert label("x" * 41) == "x" * 39 + "…"
    assert label("가" * 21) == "가" * 19 + "…"
    assert label("가" * 20) == "가" * 20
