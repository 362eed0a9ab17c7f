"""The report as a page: one file that loads nothing, runs nothing, and shows every text as text."""

import hashlib
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import matplotlib as mpl
import pytest

from langgraph_prefetch.evaluation.reporting import write_report
from langgraph_prefetch.evaluation.reporting.page import to_page
from langgraph_prefetch.evaluation.reporting.plain import printable
from langgraph_prefetch.evaluation.reporting.values import (
    Distributions,
    Lines,
    PairedDifferences,
    Reliability,
    RunTimeline,
    Section,
    StackedBars,
    SuiteReport,
    Table,
    Text,
)
from tests.evaluation.reporting.hostile import HOSTILE, hostile_report, with_text
from tests.evaluation.reporting.samples import bins, failed_report, full_report, seconds
from tests.evaluation.reporting.test_words import EMPTY
from tests.observe.timeline.samples import run_events


class Tags(HTMLParser):
    """Every tag with its attributes, and the text between."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def of(self, tag: str) -> Iterator[dict[str, str | None]]:
        return (attributes for name, attributes in self.tags if name == tag)


def showing(*blocks: object) -> SuiteReport:
    return replace(full_report(5), sections=(Section(title="Shown", blocks=blocks),))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def failed() -> str:
    """A page with a failure and every kind of block, drawn once for those who read it."""
    return to_page(failed_report())


def test_it_holds_all_of_it(failed: str) -> None:
    """In the order of reading, failures first; a description, a table and two drawings for each plot."""
    found = Tags(failed)
    order = [
        *("This suite failed, for 1 reason", "Coverage of verdicts is 71 %", "Primary endpoint", "What was run"),
        *("Pairs share a question", "Mann-Whitney U", "Sweep of the threshold", "not measured by this suite"),
        "The model is scripted",
    ]
    body = found.text[found.text.index("Skip to the table") :]
    places = [body.find(each) for each in order]
    assert places == sorted(places)
    assert min(places) >= 0
    assert len(list(found.of("figure"))) == len(list(found.of("details"))) == 6
    assert len(list(found.of("svg"))) == 12


def test_it_loads_nothing_and_runs_nothing(failed: str) -> None:
    """No script, no style but the one that the policy names, no address of anything."""
    found = Tags(failed)
    assert not {"script", "img", "link", "iframe", "object", "image", "base"} & {tag for tag, _ in found.tags}
    assert failed.count("<style") == 1
    for _, attributes in found.tags:
        assert not {name for name in attributes if name == "style" or name.startswith("on")}
        for name in ("href", "src", "xlink:href"):
            assert (attributes.get(name) or "#").startswith("#")
    assert not re.findall(r"https?:|@import|url\((?!#)", failed)
    (policy,) = (each["content"] for each in found.of("meta") if each.get("http-equiv"))
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[\w+/=]{44}'; base-uri 'none'; form-action 'none'", policy or ""
    )


def test_hostile_texts_stay_texts() -> None:
    """In every field at once: the elements are those of harmless texts, and the texts are there to be read."""
    page = to_page(hostile_report(failed_report()))
    harmless, hostile = Tags(to_page(with_text(failed_report(), " x"))), Tags(page)
    assert [tag for tag, _ in hostile.tags] == [tag for tag, _ in harmless.tags]
    names = [[sorted(each.keys() - {"class"}) for _, each in found.tags] for found in (hostile, harmless)]
    assert names[0] == names[1]
    assert hostile.text.count(printable(HOSTILE)) > 100
    assert not re.search(r"[\x00-\x08\x1b\u202e\ud800-\udfff]", page)


def test_ids_are_the_pages_own(failed: str) -> None:
    """No two elements share one, and whatever is pointed to is there."""
    ids = [attributes["id"] for _, attributes in Tags(failed).tags if attributes.get("id")]
    assert len(ids) == len(set(ids))
    pointed = set(re.findall(r'(?:url\(#|href="#)([\w-]+)', failed))
    pointed |= {each for found in re.findall(r'aria-labelledby="([^"]+)"', failed) for each in found.split()}
    assert pointed
    assert pointed <= set(ids)


def test_the_same_report_is_the_same_page() -> None:
    """Byte by byte, whatever else in the process has done to matplotlib's settings; and those are left as they were."""
    page = to_page(full_report(5))
    with mpl.rc_context({"lines.linewidth": 9, "font.size": 30, "axes.facecolor": "red", "svg.fonttype": "path"}):
        assert to_page(full_report(5)) == page
        assert mpl.rcParams["svg.fonttype"] == "path"
    code = (
        "import hashlib, sys; from tests.evaluation.reporting.samples import full_report;"
        "from langgraph_prefetch.evaluation.reporting.page import to_page;"
        "print(hashlib.sha256(to_page(full_report(5)).encode()).hexdigest(), 'matplotlib.pyplot' in sys.modules)"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=50).stdout
    # Nothing of pyplot, either, which keeps figures for the whole process.
    assert other == f"{hashlib.sha256(page.encode()).hexdigest()} False\n"


def test_pages_are_of_a_modest_size(tmp_path: Path) -> None:
    """A thousand runs of four arms stay under 1.5 MB, ten thousand points too, and it says what is not drawn."""
    written = write_report(full_report(1_000), tmp_path)
    assert written.html is not None
    assert written.html.stat().st_size < 500_000
    many = Lines(caption="", x="x", y="y", series={"a": tuple((float(x), x % 7.0) for x in range(10_000))})
    large = Distributions(caption="", unit="s", series={f"arm {n}": seconds(10_000, 1, n) for n in range(30)})
    pairs = PairedDifferences(caption="", unit="s", first="a", second="b", differences=seconds(10_000, 1, 1))
    page = to_page(showing(many, large, pairs, RunTimeline(caption="", events=tuple(run_events(steps=500)))))
    assert len(page.encode()) < 1_500_000
    for note in (
        "Of each line at most 400 points are drawn, evenly spaced.",
        "Of each series at most 400 values are dots, evenly spaced by rank; boxes are of all values.",
        "Drawn are the first 24 of 30 series; the table has all.",
        "Drawn are 1,000 of 10,000 pairs, evenly spaced by rank; the lines are of all.",
        "Drawn are the first 60 of 500 model calls.",
    ):
        assert note in page


def test_wide_reports_are_cut_and_say_so() -> None:
    """More bars, components or series than can be told apart."""
    bars = {f"bar {n}": {f"part {m}": 1.0 for m in range(40)} for n in range(30)}
    page = to_page(
        showing(
            StackedBars(caption="", unit="USD", bars=bars),
            Reliability(caption="", series={f"model {n}": bins(0.1) for n in range(9)}),
            Lines(caption="", x="x", y="y", series={f"line {n}": ((0.0, 1.0),) for n in range(20)}),
            Table(caption="Rows", head=("a", "b"), rows=tuple((str(n), "") for n in range(5_000))),
        )
    )
    for note in (
        "Drawn are the first 24 of 30 bars; the table has all.",
        "the rest",
        "Drawn are the first 6 of 9 series; the table has all.",
        "Drawn are the first 12 of 20 lines; the table has all.",
        "The first 200 of 5,000 rows; all are in report.json.",
    ):
        assert note in page


@pytest.mark.parametrize(
    ("values", "cut"), [((8.0, 9.0), True), ((-9.0, -8.0), True), ((1.0, 9.0), False), ((), False)]
)
def test_an_axis_that_leaves_zero_out_says_so(values: tuple[float, ...], cut: bool) -> None:
    """A small difference looks large on it."""
    for plot in (
        Distributions(caption="", unit="s", series={"a": values}),
        Lines(caption="", x="x", y="y", series={"a": tuple(enumerate(values))}),
    ):
        assert ("The axis does not begin at 0." in to_page(showing(plot))) == cut


def test_nothing_to_draw_is_a_sentence() -> None:
    """And no empty picture, whichever the plot; an empty table says so as well."""
    empty = Table(caption="Verdicts", head=("a", "b"), rows=())
    page = to_page(showing(*(replace(plot, caption="") for plot in EMPTY), empty, Text(paragraphs=())))
    assert page.count("Nothing to draw: ") == len(EMPTY)
    assert "<svg" not in page
    assert "<b>Verdicts</b>: no rows." in page


@pytest.mark.parametrize(
    "plot",
    [
        Distributions(caption="", unit="s", series={"one": (2.0,), "same": (2.0, 2.0)}),
        Distributions(caption="", unit="", series={"zeros": (0.0,) * 9, "large": (1e12, -1e12)}),
        PairedDifferences(caption="", unit="s", first="a", second="b", differences=(0.0,)),
        PairedDifferences(caption="", unit="s", first="a", second="b", differences=(1.0, 2.0)),
        StackedBars(caption="", unit="USD", bars={"free": {"tokens": 0.0}}),
        StackedBars(caption="", unit="USD", bars={"a": {"tiny": 1e-12, "large": 1e9}}),
        Lines(caption="", x="x", y="y", series={"one point": ((0.5, 0.5),)}),
        RunTimeline(caption="", events=tuple(run_events(steps=1)[:1])),
        Distributions(caption="검색 시간", unit="초", series={"사실을 묻는 질문": (1.0, 2.0)}),
    ],
)
def test_unusual_values_are_drawn(plot: object) -> None:
    """One value, equal values, zeros, huge ones, scripts that matplotlib's font lacks: without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert to_page(showing(plot)).count("<svg") == 2


def test_formulas_are_not_read() -> None:
    """A dollar in a name is money, and not a formula that cannot be parsed."""
    page = to_page(showing(StackedBars(caption="", unit="$", bars={"$\\frac{1}$": {"$x_1$": 1.0}})))
    assert "$\\frac{1}$</text>" in page
    assert "$x_1$</text>" in page


def test_only_the_page_needs_the_extra(tmp_path: Path) -> None:
    """Without it Markdown and JSON are written, and the page names the command before anything is."""
    code = f"""
import sys
sys.modules.update(dict.fromkeys(("matplotlib", "jinja2", "markupsafe", "numpy", "scipy")))  # as if missing
from langgraph_prefetch.evaluation.reporting import read_report, write_report
report = read_report({str(tmp_path / "report.json")!r})
write_report(report, {str(tmp_path / "bare")!r}, forms=["json", "markdown"])
try:
    write_report(report, {str(tmp_path / "page")!r})
except ImportError as error:
    print(error)
"""
    write_report(full_report(5), tmp_path, forms=["json"])
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=50)
    assert run.stdout == 'matplotlib is not installed: pip install "langgraph-prefetch[eval]"\n'
    assert sorted(each.name for each in tmp_path.rglob("*")) == ["bare", "report.json", "report.json", "report.md"]
