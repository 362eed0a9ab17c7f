"""A sink in the background costs a run next to nothing, whatever it does."""

import logging
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import pytest

from langgraph_prefetch import with_prefetch
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.events import Event, EventHub, EventSink, RunStarted, Trouble
from langgraph_prefetch.observe.background import BackgroundSink
from langgraph_prefetch.testing.sink_contract import EventSinkContract, sample_events
from langgraph_prefetch.testing.tools import CountingSearch
from tests.graph.cases.rigs import DONE, GO, created, held, model, plain, thinks

tag: ContextVar[str] = ContextVar("tag", default="")


@contextmanager
def behind(sink: EventSink, **settings: int) -> Iterator[BackgroundSink]:
    made = BackgroundSink(sink, **settings)
    try:
        yield made
    finally:
        made.close()


class TestBackgroundSink(EventSinkContract):
    @pytest.fixture
    def sink(self) -> Iterator[EventSink]:
        with behind(lambda event: None) as made:
            yield made


def test_events_come_in_order_in_the_emitters_context_and_on_another_thread() -> None:
    """What the emitter's context says, such as the current span, is what the sink sees."""
    seen: list[tuple[Event, str, bool]] = []
    here = threading.get_ident()
    with behind(lambda event: seen.append((event, tag.get(), threading.get_ident() == here))) as sink:
        for number, event in enumerate(sample_events()):
            token = tag.set(str(number))
            sink(event)
            tag.reset(token)
        assert sink.flush()
    assert seen == [(event, str(number), False) for number, event in enumerate(sample_events())]


def test_a_hung_sink_delays_nobody_and_its_memory_is_bounded(caplog: pytest.LogCaptureFixture) -> None:
    """Events that find no room are dropped and counted, which is said once."""
    with held() as gate:

        def hangs(event: Event) -> None:
            gate.wait()

        sink = BackgroundSink(hangs, max_queued=10)
        began = time.monotonic()
        for _ in range(100):
            for event in sample_events():
                sink(event)
        assert time.monotonic() - began < 10
        assert sink.waiting <= 10
        assert sink.dropped >= 1_000 - 11
        assert not sink.flush(0.01)
        assert not sink.close(0.01)
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "more are dropped" in caplog.text


def test_a_sink_that_raises_is_removed_like_any_other() -> None:
    """The hub hears of it at the next event, and counts a trouble with the error's own name."""
    hub, troubles, calls = EventHub(), list[Trouble](), []

    def raises(event: Event) -> None:
        calls.append(event)
        raise KeyError("no such thing")

    with behind(raises) as sink:
        hub.subscribe(sink)
        hub.subscribe(lambda event: troubles.append(event) if isinstance(event, Trouble) else None)
        hub(RunStarted(run_id="1", at=0.0))
        assert sink.flush()
        hub(RunStarted(run_id="2", at=0.0))
        hub(RunStarted(run_id="3", at=0.0))
    assert [(each.where, each.error) for each in troubles] == [("event sink", "KeyError")]
    assert len(calls) == 1


@pytest.mark.parametrize("behaviour", ["raises", "blocks"])
def test_no_sink_changes_or_slows_an_answer(behaviour: str) -> None:
    """A run with a broken sink in the background gives the bare run's messages, as fast."""
    with held() as gate:

        def broken(event: Event) -> None:
            if behaviour == "raises":
                raise RuntimeError
            gate.wait()

        def run(*sinks: EventSink) -> tuple[object, float]:
            agent = with_prefetch(
                created(model(thinks("Lake Baikal"), DONE), [CountingSearch().tool]), tools=["search"]
            )
            for sink in sinks:
                agent.prefetch.subscribe(sink)
            began = time.monotonic()
            *_, last = agent.stream(GO, stream_mode="values")
            return plain(last["messages"]), time.monotonic() - began

        sink = BackgroundSink(broken, max_queued=2)
        alone, _ = run()
        beside, seconds = run(sink)
        assert beside == alone
        assert seconds < 10, "a sink that waits for ever would have kept it"
        gate.set()
        sink.close()


class Closing:
    def __init__(self, error: Exception | None = None) -> None:
        self.events: list[Event] = []
        self.closed_on: list[str] = []
        self.error = error

    def __call__(self, event: Event) -> None:
        self.events.append(event)

    def close(self) -> None:
        self.closed_on.append(threading.current_thread().name)
        if self.error is not None:
            raise self.error


def test_close_hands_over_what_waits_and_closes_the_sink_on_its_own_thread() -> None:
    """Nothing that was emitted before is lost, later events are ignored, and closing twice does nothing."""
    inner = Closing()
    sink = BackgroundSink(inner)
    for event in sample_events():
        sink(event)
    assert sink.close()
    assert sink.close()
    sink(RunStarted(run_id="late", at=0.0))
    assert inner.events == list(sample_events())
    assert inner.closed_on == ["langgraph-prefetch-events"]


def test_a_sink_that_fails_to_close_is_said_and_nothing_more(caplog: pytest.LogCaptureFixture) -> None:
    """An error at the end has nobody to go to but the log."""
    inner = Closing(error=OSError("full"))
    assert BackgroundSink(inner).close()
    assert "failed to close: OSError" in caplog.text


def test_it_needs_room_for_one_event() -> None:
    """A queue without room would drop everything in silence."""
    with pytest.raises(ConfigurationError, match="max_queued must be at least 1"):
        BackgroundSink(lambda event: None, max_queued=0)


def run_script(script: str) -> str:
    """What a process of its own prints."""
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False, timeout=30
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


SCRIPT = """
    import os, time
    from langgraph_prefetch.events import RunStarted
    from langgraph_prefetch.observe.background import BackgroundSink

    def slow(event):
        time.sleep(0.05)
        os.write(1, f"{event.run_id} in {'child' if os.getpid() != parent else 'parent'}\\n".encode())

    parent = os.getpid()
    sink = BackgroundSink(slow)
    sink(RunStarted(run_id="1", at=0.0))
"""


def test_the_end_of_the_process_waits_for_what_is_queued() -> None:
    """A short script that ends without closing its sinks loses nothing."""
    assert run_script(SCRIPT) == "1 in parent\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_has_a_thread_and_a_queue_of_its_own() -> None:
    """The child neither repeats the parent's events nor loses its own."""
    forks = """
    child = os.fork()
    sink(RunStarted(run_id="2", at=0.0))
    sink.flush()
    if child:
        os.waitpid(child, 0)
    else:
        os._exit(0)
    """
    assert sorted(run_script(SCRIPT + forks).splitlines()) == ["1 in parent", "2 in child", "2 in parent"]
