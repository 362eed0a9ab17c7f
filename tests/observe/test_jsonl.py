"""Events reach the disk in order, or are counted; a run never waits for it."""

import errno
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.events import Event, EventHub, StepStarted, Trouble
from langgraph_prefetch.observe.event_lines import to_line
from langgraph_prefetch.observe.jsonl import JsonlSink, read_events
from langgraph_prefetch.testing.sink_contract import EventSinkContract, sample_events

FULL = OSError(errno.ENOSPC, "No space left on device")


def steps(count: int, run_id: str = "r") -> list[Event]:
    return [StepStarted(run_id=run_id, step=number, at=float(number)) for number in range(count)]


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


class TestJsonlIsASink(EventSinkContract):
    """It takes what every sink takes."""

    @pytest.fixture
    def sink(self, tmp_path: Path) -> Iterator[JsonlSink]:
        with JsonlSink(tmp_path / "events.jsonl") as sink:
            yield sink
        assert sink.dropped == 0
        written = read_events(tmp_path / "events.jsonl")
        assert len(list(written)) % len(sample_events()) == 0
        assert written.skipped == 0


def test_what_was_sent_is_read(tmp_path: Path) -> None:
    """All events, in order, after the end of the block; a second sink appends."""
    path = tmp_path / "events.jsonl"
    for _ in range(2):
        with JsonlSink(path) as sink:
            for event in sample_events():
                sink(event)
        sink(sample_events()[0])  # too late, and harmless
        assert (sink.dropped, sink.stopped) == (0, None)
    assert list(read_events(path)) == [*sample_events(), *sample_events()]


def test_threads_do_not_mix_their_lines(tmp_path: Path) -> None:
    """Each line is whole, and each thread's events stay in order."""
    with JsonlSink(tmp_path / "events.jsonl", max_queued=10_000) as sink:

        def send(number: int) -> None:
            for event in steps(200, f"run-{number}"):
                sink(event)

        threads = [threading.Thread(target=send, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    events = list(read_events(tmp_path / "events.jsonl"))
    assert len(events) == 1_600
    for number in range(8):
        assert [event for event in events if getattr(event, "run_id", "") == f"run-{number}"] == steps(
            200, f"run-{number}"
        )


def test_files_rotate_and_stay_bounded(tmp_path: Path) -> None:
    """No file is larger than allowed, the newest events are kept, and older files are gone."""
    path = tmp_path / "events.jsonl"
    line = len(to_line(steps(1)[0]))
    with JsonlSink(path, max_bytes=10 * line + 20, keep=2) as sink:
        for event in steps(100):
            sink(event)
    assert files(tmp_path) == ["events.jsonl", "events.jsonl.1", "events.jsonl.2"]
    assert all(each.stat().st_size <= 10 * line + 20 for each in tmp_path.iterdir())
    kept = [event for name in reversed(files(tmp_path)) for event in read_events(tmp_path / name)]
    assert kept == steps(100)[-len(kept) :]
    assert len(kept) > 20


def test_keep_none_holds_one_file(tmp_path: Path) -> None:
    """With `keep=0` the full file is dropped; a line longer than a file still gets written."""
    with JsonlSink(tmp_path / "events.jsonl", max_bytes=1, keep=0) as sink:
        for event in steps(5):
            sink(event)
    assert files(tmp_path) == ["events.jsonl"]
    assert list(read_events(tmp_path / "events.jsonl")) == steps(5)[-1:]


def test_a_line_that_was_cut_off_spoils_no_other(tmp_path: Path) -> None:
    """After a crash in the middle of a line the next event stands on a line of its own."""
    path = tmp_path / "events.jsonl"
    path.write_text('{"v": "1.0", "event": "StepSta')
    with JsonlSink(path) as sink:
        sink(steps(1)[0])
    events = read_events(path)
    assert list(events) == steps(1)
    assert events.skipped == 1


@pytest.mark.parametrize("where", ["missing/events.jsonl", "."])
def test_a_path_that_cannot_be_written_is_said_once(
    tmp_path: Path, where: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is raised, nothing is dropped by the hub; one warning, and a count."""
    hub, sink = EventHub(), JsonlSink(tmp_path / where)
    heard: list[Event] = []
    hub.subscribe(sink)
    hub.subscribe(heard.append)
    for event in steps(10):
        hub(event)
    assert sink.flush()
    assert sink.close()
    assert (sink.dropped, heard) == (10, steps(10))
    assert sink.stopped
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert sink.stopped in record.getMessage()


def test_a_disk_that_fills_up_stops_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What was written can be read, the rest is counted, and there is one warning."""
    path, write, seen = tmp_path / "events.jsonl", os.write, []

    def filling(descriptor: int, data: bytes) -> int:
        seen.append(data)
        if len(seen) > 4:
            raise FULL
        return write(descriptor, data if len(seen) < 4 else data[:20])

    monkeypatch.setattr(os, "write", filling)
    with JsonlSink(path) as sink:
        for event in steps(50):
            sink(event)
    monkeypatch.undo()
    assert sink.stopped == "No space left on device"
    events = read_events(path)
    assert list(events) == steps(50)[:3]
    assert events.skipped == 1
    assert sink.dropped == 47
    assert len(caplog.records) == 1


def test_a_slow_disk_slows_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full queue drops and counts at once; what is dropped and what is written add up."""
    gate, write = threading.Event(), os.write

    def stuck(descriptor: int, data: bytes) -> int:
        gate.wait(10)
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", stuck)
    sink = JsonlSink(tmp_path / "events.jsonl", max_queued=5)
    began = time.perf_counter()
    for event in steps(100):
        sink(event)
    assert time.perf_counter() - began < 5
    assert sink.dropped >= 94
    assert not sink.flush(0.01)
    gate.set()
    assert sink.close()
    assert len(list(read_events(sink.path))) + sink.dropped == 100


def test_numbers_without_a_word_in_json_are_dropped(tmp_path: Path) -> None:
    """One bad event is counted and costs no other."""
    with JsonlSink(tmp_path / "events.jsonl") as sink:
        sink(Trouble(at=float("nan"), where="x", error="y"))
        sink(steps(1)[0])
    assert (list(read_events(sink.path)), sink.dropped, sink.stopped) == (steps(1), 1, None)


@pytest.mark.parametrize("bad", [{"max_bytes": 0}, {"keep": -1}, {"max_queued": 0}, {"max_bytes": "1 MB"}])
def test_bounds_that_make_no_sense_are_named(tmp_path: Path, bad: dict[str, int]) -> None:
    """Wrong use is an error when the sink is made."""
    with pytest.raises(ConfigurationError, match=next(iter(bad))):
        JsonlSink(tmp_path / "events.jsonl", **bad)


def test_the_end_of_the_process_loses_nothing(tmp_path: Path) -> None:
    """A script that never closes its sink has its events on the disk."""
    program = (
        "from langgraph_prefetch.observe.jsonl import JsonlSink\n"
        "from langgraph_prefetch.testing.sink_contract import sample_events\n"
        "sink = JsonlSink('events.jsonl')\n"
        "for event in sample_events() * 50: sink(event)\n"
    )
    root = Path(__file__).parents[2]
    subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        check=True,
        timeout=50,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert len(list(read_events(tmp_path / "events.jsonl"))) == 50 * len(sample_events())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_a_file_of_its_own(tmp_path: Path) -> None:
    """Parent and child both write on, neither repeats nor loses what the other sent."""
    program = (
        "import os, sys\n"
        "from langgraph_prefetch.observe.jsonl import JsonlSink\n"
        "from langgraph_prefetch.testing.sink_contract import sample_events\n"
        "sink = JsonlSink('events.jsonl')\n"
        "for event in sample_events('before'): sink(event)\n"
        "sink.flush()\n"
        "child = os.fork()\n"
        "for event in sample_events('parent' if child else 'child'): sink(event)\n"
        "sink.close()\n"
        "if child: assert os.waitpid(child, 0)[1] == 0\n"
        "else: os._exit(0)\n"
    )
    root = Path(__file__).parents[2]
    subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        check=True,
        timeout=50,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    of_child, of_parent = files(tmp_path)
    assert of_child.startswith("events-")
    assert list(read_events(tmp_path / of_parent)) == [*sample_events("before"), *sample_events("parent")]
    assert list(read_events(tmp_path / of_child)) == list(sample_events("child"))
