"""One frozen event per step, to every sink, and no sink can harm a run."""

import dataclasses
import threading
from typing import Any, get_args

import pytest

from langgraph_prefetch.events import Event, EventHub, Fate
from langgraph_prefetch.testing.sink_contract import sample_events

KINDS = get_args(Event)


@pytest.mark.parametrize("kind", KINDS)
def test_events_are_frozen_documented_values(kind: type[Any]) -> None:
    """A sink may keep them, compare them and read what they mean."""
    assert kind.__doc__
    event = next(each for each in sample_events() if type(each) is kind)
    with pytest.raises(dataclasses.FrozenInstanceError):
        event.at = 5.0  # type: ignore[misc]
    assert event == dataclasses.replace(event)
    hash(event)
    assert isinstance(event.at, float)


def test_queries_are_optional_everywhere() -> None:
    """No event needs the text of a query."""
    for kind in KINDS:
        for field in dataclasses.fields(kind):
            if field.name == "query":
                assert field.default is None


def test_fates() -> None:
    """A speculation ends in one of four ways."""
    assert {str(fate) for fate in Fate} == {"served", "wasted", "failed", "cancelled"}


def test_sinks_hear_in_order_of_subscription() -> None:
    """Each hears every event, until it is taken away."""
    hub = EventHub()
    heard: list[tuple[str, Event]] = []
    stops = [hub.subscribe(lambda event, name=name: heard.append((name, event))) for name in "ab"]
    first, second, *_ = sample_events()
    hub(first)
    stops[0]()
    stops[0]()
    hub(second)
    assert heard == [("a", first), ("b", first), ("b", second)]


def test_a_sink_that_raises_is_dropped_and_said_so_once(caplog: pytest.LogCaptureFixture) -> None:
    """Case 16: the others hear on, and the emitter notices nothing."""
    hub = EventHub()
    heard: list[Event] = []

    def broken(event: Event) -> None:
        raise ValueError("secret")

    hub.subscribe(broken)
    hub.subscribe(heard.append)
    for event in sample_events():
        hub(event)
    assert [event for event in heard if getattr(event, "where", "") != "event sink"] == list(sample_events())
    (record,) = caplog.records
    assert "ValueError" in record.getMessage()
    assert "secret" not in record.getMessage()


def test_an_interrupt_passes() -> None:
    """Whoever ends the process is not held up by a sink's protection."""
    hub = EventHub()

    def interrupted(event: Event) -> None:
        raise KeyboardInterrupt

    hub.subscribe(interrupted)
    with pytest.raises(KeyboardInterrupt):
        hub(sample_events()[0])


def test_sinks_may_come_and_go_while_events_are_sent() -> None:
    """From any thread, also from within a sink."""
    hub = EventHub()
    heard: list[Event] = []
    stop_self: list[Any] = []

    def once(event: Event) -> None:
        heard.append(event)
        stop_self[0]()
        hub.subscribe(lambda _: None)

    stop_self.append(hub.subscribe(once))

    def come_and_go() -> None:
        for _ in range(300):
            hub.subscribe(lambda _: None)()
            hub(sample_events()[0])

    threads = [threading.Thread(target=come_and_go) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard
