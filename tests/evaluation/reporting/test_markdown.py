"""The report as Markdown: it stands without pictures, and shows every text as it is."""

import re
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from langgraph_prefetch.evaluation.reporting.markdown import escaped, to_markdown
from langgraph_prefetch.evaluation.reporting.plain import printable
from langgraph_prefetch.evaluation.reporting.values import Section, Summary, Table
from tests.evaluation.reporting.hostile import HOSTILE, hostile_report, with_text
from tests.evaluation.reporting.samples import failed_report, full_report

RENDERER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def test_the_order_is_that_of_reading() -> None:
    """Failure, hypotheses, settings, sections, the closing table, limitations."""
    text = to_markdown(failed_report())
    order = [
        *(
            "# Speed: bare",
            "> **This suite failed, for 1 reason**",
            "> - Coverage of verdicts is 71 %",
            "## Hypotheses",
        ),
        *(
            "## Hypotheses",
            "- Primary endpoint",
            "## What was run",
            "| seed | 7 |",
            "## End to end",
            "## P(search)",
            "## Cost",
        ),
        *(
            "## Speed, quality and cost",
            "| Quality | not measured by this suite |",
            "### Limitations",
            "- The model is",
        ),
    ]
    places = [text.find(each) for each in order]
    assert places == sorted(places)
    assert min(places) >= 0
    assert "failed" not in to_markdown(full_report()).split("## Hypotheses")[0]


def test_pictures_are_told_in_words() -> None:
    """Medians, quartiles and n of every plot."""
    text = to_markdown(full_report(20))
    for said in ("median", "first quartile", "n = 20", "differ by", "of which output tokens", "s of retrieval hidden"):
        assert said in text
    assert "<svg" not in text


def test_no_hypothesis_is_said() -> None:
    """What was not written down before is not confirmed after."""
    assert "what follows explores, and confirms nothing" in to_markdown(replace(full_report(5), hypotheses=()))


def test_hostile_texts_stay_texts() -> None:
    """No tag, link, picture, code, emphasis or heading comes from data, and tables keep their columns."""
    plain = RENDERER.render(to_markdown(with_text(failed_report(), " plain")))
    hostile = RENDERER.render(to_markdown(hostile_report(failed_report())))
    tags = [re.findall(r"<\w+", each) for each in (plain, hostile)]
    assert tags[0] == tags[1]
    assert printable(HOSTILE)[:30].replace("<", "&lt;").replace(">", "&gt;") in hostile


@given(st.text(alphabet=st.sampled_from(" #>+-=*_`~|\\[]()!<>&;$:/.1ab\nw"), max_size=40))
@example("1. a")
@example("[a]: /b")
@example("- [ ] a")
@example("www.example.org")
@example("snake_case __init__ a_ _b")
def test_escaped_text_reads_as_it_was(text: str) -> None:
    """Rendered as a paragraph, a list item or a cell, it is the text again."""
    text = printable(text)
    rendered = RENDERER.render(escaped(text))
    expected = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    assert rendered == (f"<p>{expected}</p>\n" if text else "")


def test_long_tables_are_cut_and_say_so() -> None:
    """So that a report of 10,000 questions can be read."""
    rows = tuple((f"question {n}", "x" * 2_000) for n in range(10_000))
    long = Table(caption="All", head=("Question", "answer"), rows=rows)
    text = to_markdown(replace(full_report(5), sections=(Section(title="Rows", blocks=(long,)),)))
    assert "The first 200 of 10,000 rows; all are in `report.json`." in text
    assert len(text) < 100_000
    assert "1,701 more characters" in text


def test_an_empty_table_is_said() -> None:
    """Not a head without a body."""
    empty = Table(caption="None", head=("a", "b"), rows=())
    assert "No rows." in to_markdown(replace(full_report(5), sections=(Section(title="", blocks=(empty,)),)))


@pytest.mark.parametrize("part", ["speed", "quality", "cost"])
def test_a_part_that_is_not_measured_says_so(part: str) -> None:
    """The closing table has all three parts in every suite."""
    text = to_markdown(replace(full_report(5), summary=Summary()))
    assert f"| {part.capitalize()} | not measured by this suite |" in text
