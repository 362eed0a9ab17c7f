"""The page stands by itself, is bounded, and takes no text for markup."""

import json
import re
from html import unescape
from typing import Any

import pytest

from langgraph_prefetch.events import Event
from langgraph_prefetch.observe.timeline import timeline_page
from langgraph_prefetch.observe.timeline.collect import runs_of
from langgraph_prefetch.observe.timeline.data import MAX_BYTES, MAX_RUNS, MAX_TEXT, page_data
from langgraph_prefetch.report import Tally
from tests.observe.timeline.samples import run_events

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> {{script}} & \u2028 \" ' `${1}`"


def data_of(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="runs">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def numbers_of(page: str) -> dict[str, tuple[str, str]]:
    found = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd><dd>(.*?)</dd>", page)
    return {unescape(name): (unescape(value), unescape(note)) for name, value, note in found}


def test_nothing_is_loaded_from_elsewhere() -> None:
    """One file, also without a network: no address but the names of namespaces, and a policy that allows no other."""
    page = timeline_page(run_events())
    assert set(re.findall(r"https?://[^\s\"'<)]+", page)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<link|@import|\bsrc=|url\((?!#)|fetch\(|XMLHttpRequest|innerHTML|insertAdjacent", page)
    assert "default-src 'none'; style-src 'sha256-" in page
    assert "{{" not in page


def test_hostile_text_stays_text() -> None:
    """A query, a run, a title or a reason that is markup is shown, and never run."""
    page = timeline_page(run_events(HOSTILE, 2, query=HOSTILE), title=HOSTILE, note=HOSTILE)
    assert page.count("<script") == page.count("</script") == 2
    assert "<img" not in page
    (run,) = data_of(page)
    assert run["id"] == HOSTILE
    assert run["speculations"][0]["query"] == f"{HOSTILE} 1"


def test_the_numbers_are_the_reports() -> None:
    """The header says what `print(agent.prefetch.report())` says about the same events."""
    events = run_events(steps=25)
    tally = Tally()
    for event in events:
        tally(event)
    report, shown = tally.report(), numbers_of(timeline_page(events))
    assert shown["Coverage"] == (
        f"{report.coverage:.0%}",
        f"{report.served} of {report.search_calls} search calls served",
    )
    assert shown["Hidden"] == (f"{report.hidden_seconds:.2f} s", f"of {report.hideable_seconds:.2f} s hideable")
    assert shown["Speculations not served"][1] == (
        f"wasted {report.wasted}, cancelled {report.cancelled}, failed {report.failed}"
    )
    assert report.search_calls == 25


def test_times_count_from_the_start_of_each_run() -> None:
    """Runs of different days lie side by side."""
    first, second = data_of(timeline_page(run_events("a", 3, at=7.0) + run_events("b", 3, at=90_000.0)))
    assert first["steps"] == second["steps"]
    assert first["calls"][0]["start"] > 0


def test_runs_are_compared() -> None:
    """Several runs get a table with a row each, one does not."""
    assert "Runs compared" not in timeline_page(run_events())
    assert timeline_page(run_events("a") + run_events("b")).count('<th scope="row">') == 2


def test_a_long_run_stays_under_two_megabytes() -> None:
    """1,000 steps fit whole, with queries; of a run ten times as long the beginning is drawn, and the page says so."""
    page = timeline_page(run_events(steps=1_000, query="how long is the main span of the bridge across the river"))
    assert len(page.encode()) < 2_000_000
    assert len(data_of(page)[0]["steps"]) == 1_000
    longer = timeline_page(run_events(steps=10_000))
    assert MAX_BYTES / 2 < len(longer.encode()) < 2_000_000
    assert f"the first {len(data_of(longer)[0]['steps'])} of 10000 model calls are drawn" in longer


def test_of_many_runs_the_latest_are_drawn() -> None:
    """A server's day does not become a page that nobody can open; what is left out is said."""
    events: list[Event] = []
    for number in range(MAX_RUNS + 5):
        events += run_events(f"run-{number}", 2, at=100.0 * number)
    page = timeline_page(events)
    assert [run["id"] for run in data_of(page)] == [f"run-{number}" for number in range(5, MAX_RUNS + 5)]
    assert f"the latest {MAX_RUNS} of {MAX_RUNS + 5} runs" in page
    wide = page_data(runs_of(run_events("a", 4_000) + run_events("b", 4_000, at=90_000.0)))
    assert [run.id for run in wide.runs] == ["b"]
    assert len(wide.text) <= MAX_BYTES


def test_long_text_is_cut() -> None:
    """A query of a megabyte costs a page no more than a line."""
    page = timeline_page(run_events(steps=1, query="x" * 1_000_000))
    assert len(page) < 100_000
    assert len(data_of(page)[0]["speculations"][0]["query"]) == MAX_TEXT


@pytest.mark.parametrize("events", [[], run_events(steps=0)])
def test_a_page_without_anything_to_draw(events: list[Event]) -> None:
    """It opens, and its numbers are zeros."""
    page = timeline_page(events)
    assert numbers_of(page)["Coverage"] == ("0%", "0 of 0 search calls served")
    assert ("There are no runs among the events." in page) == (not events)


def test_without_log_queries_no_query_is_in_the_page() -> None:
    """What the events do not hold cannot be seen."""
    assert '"query"' not in json.dumps(data_of(timeline_page(run_events(query=None))))
