"""The hub that hands events to sinks."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

from langgraph_prefetch.events.kinds import Event
from langgraph_prefetch.events.runs import Trouble
from langgraph_prefetch.locks import ForkSafeLock

logger = logging.getLogger("langgraph_prefetch")


class EventSink(Protocol):
    """Receives every event, from any thread. May raise or be slow without harming a run's answers."""

    def __call__(self, event: Event, /) -> None:
        """Take one event."""
        ...


class EventHub:
    """Hands each event to every sink, in the order of subscription. A sink that raises is dropped, and said so once."""

    def __init__(self) -> None:
        self._sinks: tuple[EventSink, ...] = ()
        self._lock = ForkSafeLock()

    def subscribe(self, sink: EventSink) -> Callable[[], None]:
        """Add a sink; the returned function takes it away again."""
        with self._lock:
            self._sinks = (*self._sinks, sink)
        return lambda: self._remove(sink)

    def _remove(self, sink: EventSink) -> None:
        with self._lock:
            self._sinks = tuple(each for each in self._sinks if each is not sink)

    def __call__(self, event: Event) -> None:
        """Emit ``event``. Never raises."""
        for sink in self._sinks:
            try:
                sink(event)
            except Exception as error:  # noqa: BLE001 - a failing sink never fails the run
                self._remove(sink)
                logger.warning("event sink %r failed and was removed: %s", sink, type(error).__name__)
                # Counted by the sinks that are left.
                self(Trouble(at=event.at, where="event sink", error=type(error).__name__))
