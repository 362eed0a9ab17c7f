"""Events kept on demand, and the ways from them to a picture."""

import threading
from html import unescape
from pathlib import Path

import pytest

from langgraph_prefetch.config import PrefetchOptions
from langgraph_prefetch.errors import ConfigurationError, TimelineError
from langgraph_prefetch.events import RunEnded, RunStarted
from langgraph_prefetch.observe.recording import Recording
from langgraph_prefetch.prefetcher import PrefetchEngine
from langgraph_prefetch.testing.search import PlainCaller
from langgraph_prefetch.testing.sink_contract import EventSinkContract, sample_events
from langgraph_prefetch.values import TextDelta
from tests.observe.timeline.samples import run_events
from tests.observe.timeline.test_page import data_of
from tests.speculation.rig import rigged


class TestRecordingIsASink(EventSinkContract):
    """It takes what every sink takes."""

    @pytest.fixture
    def sink(self) -> Recording:
        return Recording()


def test_it_keeps_the_latest_events() -> None:
    """A process that records for days holds a bounded number of events, and the page says that some are missing."""
    recording = Recording(max_events=3)
    for event in sample_events():
        recording(event)
    assert recording.events == sample_events()[-3:]
    assert (len(recording), recording.forgotten) == (3, len(sample_events()) - 3)
    assert f"About {recording.forgotten} older events were not kept" in recording._repr_html_()
    with pytest.raises(ConfigurationError, match="max_events"):
        Recording(max_events=0)


def test_it_can_be_read_while_events_come() -> None:
    """A picture of a run that is still going never fails."""
    recording, done = Recording(max_events=50), threading.Event()

    def send() -> None:
        while not done.is_set():
            for event in sample_events():
                recording(event)

    thread = threading.Thread(target=send)
    thread.start()
    for _ in range(300):
        assert len(recording.events) <= 50
    done.set()
    thread.join()


def test_a_prefetcher_records_from_when_it_is_asked_to_when_it_is_stopped() -> None:
    """Runs before, and after the block, are not in it; what was recorded stays."""
    with rigged() as rig:
        engine = rig.engine
        engine.open_run().close()
        with engine.record() as recording:
            engine.open_run().close()
        recording.stop()
        engine.open_run().close()
        assert [type(event) for event in recording.events] == [RunStarted, RunEnded]


def test_a_new_recording_ends_the_one_before() -> None:
    """One prefetcher never pays for recordings that were forgotten about."""
    with rigged() as rig:
        first, second = rig.engine.record(), rig.engine.record(max_events=10)
        rig.engine.open_run().close()
        assert (len(first), len(second)) == (0, 2)
        assert rig.engine.report().recording is second


def test_a_report_draws_what_was_recorded(tmp_path: Path) -> None:
    """`report().timeline(path)` gives the page of the recording, its token stream with it."""
    with rigged() as rig:
        with rig.engine.record():
            run = rig.engine.open_run()
            run.begin_step("model")
            for word in ("I ", "think "):
                rig.clock.pass_(0.5)
                run.hear("model", (TextDelta(word),), PlainCaller)
            rig.clock.pass_(0.5)
            run.end_step("model")
            run.close()
        path = rig.engine.report().timeline(tmp_path / "page.html")
    (drawn,) = data_of(path.read_text(encoding="utf-8"))
    (step,) = drawn["steps"]
    assert (step["pieces"], sum(step["slices"]), step["end"] - step["start"]) == (2, 2, 1.5)


def test_without_a_recording_the_report_says_how_to_make_one(tmp_path: Path) -> None:
    """Nothing is drawn from events that nobody kept."""
    with pytest.raises(TimelineError, match=r"prefetch\.record\(\)"):
        PrefetchEngine(PrefetchOptions()).report().timeline(tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_reports_are_equal_whether_or_not_they_were_recorded() -> None:
    """Recording changes no number, and is no part of the report's text."""
    with rigged() as rig:
        before = rig.engine.report()
        rig.engine.record()
        assert rig.engine.report() == before
        assert repr(rig.engine.report()) == repr(before)


def test_a_notebook_shows_the_page_in_a_frame() -> None:
    """The page is whole in it, and cannot reach the notebook."""
    recording = Recording()
    for event in run_events("r", 3, query='"><script>alert(1)</script>'):
        recording(event)
    frame = recording._repr_html_()
    assert frame.count("<") == 2
    assert 'sandbox="allow-scripts"' in frame
    page = unescape(frame.split('srcdoc="')[1].split('"')[0])
    assert data_of(page)[0]["id"] == "r"
