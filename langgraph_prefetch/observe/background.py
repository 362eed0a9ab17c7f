"""Any event sink, on a thread of its own: slow or hung, it costs a run a few microseconds an event and nothing more."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import weakref
from contextvars import Context, copy_context
from queue import SimpleQueue
from typing import Protocol, runtime_checkable

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.events import Event, EventSink
from langgraph_prefetch.locks import ForkSafeLock

logger = logging.getLogger("langgraph_prefetch")

EXIT_SECONDS = 2.0
"""So long, at most, the end of the process waits for events that are still queued."""


@runtime_checkable
class Closable(Protocol):
    """A sink with something to finish."""

    def close(self) -> None:
        """Finish it. Called once, after the last event."""
        ...


class BackgroundSink:
    """Hands each event to ``sink`` on one daemon thread, in order and in a copy of the emitter's context.

    Events that find ``max_queued`` others waiting are dropped and counted. After ``sink`` has raised it gets no more
    events, and this sink raises that error at the next one, so that the hub removes it as it would have removed
    ``sink``.

    Args:
        sink: takes the events; if it has a ``close()``, that is called on its thread by :meth:`close`.
        max_queued: how many events may wait.

    Raises:
        ConfigurationError: ``max_queued`` is below 1.
    """

    def __init__(self, sink: EventSink, *, max_queued: int = 8_192) -> None:
        if max_queued < 1:
            raise ConfigurationError(f"max_queued must be at least 1, not {max_queued!r}")
        self._sink, self._max_queued = sink, max_queued
        self._lock = ForkSafeLock()
        self._error: Exception | None = None
        self._dropped = 0
        self._closed = False
        self._begin_anew()
        _all.add(self)
        atexit.register(self.close, EXIT_SECONDS)

    def _begin_anew(self) -> None:
        self._queue: SimpleQueue[_Item] = SimpleQueue()
        self._thread: threading.Thread | None = None

    @property
    def dropped(self) -> int:
        """How many events were dropped because too many were waiting."""
        return self._dropped

    @property
    def waiting(self) -> int:
        """How many events wait now."""
        return self._queue.qsize()

    def __call__(self, event: Event) -> None:
        """Take one event. After :meth:`close` it is ignored.

        Raises:
            Exception: what ``sink`` raised at an earlier event.
        """
        if self._error is not None:
            raise self._error
        if self._closed:
            return
        if self._queue.qsize() >= self._max_queued:
            self._drop()
            return
        self._queue.put((copy_context(), event))
        if self._thread is None:
            self._start()

    def flush(self, timeout_seconds: float = 5.0) -> bool:
        """Wait until all events so far were handed over; False if that took longer than ``timeout_seconds``."""
        if self._thread is None:
            return True
        reached = threading.Event()
        self._queue.put(reached)
        return reached.wait(timeout_seconds)

    def close(self, timeout_seconds: float = 5.0) -> bool:
        """Hand over what waits, then close ``sink``. Idempotent.

        Returns:
            False if that took longer than ``timeout_seconds``; it then goes on in the background.
        """
        with self._lock:
            if self._closed:
                return True
            self._closed = True
        atexit.unregister(self.close)
        thread = self._thread
        if thread is None:  # nothing was ever handed over; and at the process's exit no thread may be started
            self._close_sink()
            return True
        self._queue.put(None)
        thread.join(timeout_seconds)
        return not thread.is_alive()

    def after_fork(self) -> None:
        """In a forked child the thread does not exist, and the queue's events belong to the parent."""
        self._begin_anew()

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="langgraph-prefetch-events", daemon=True)
                self._thread.start()

    def _drop(self) -> None:
        with self._lock:
            self._dropped += 1
            first = self._dropped == 1
        if first:
            logger.warning("event sink %r is slow: %d events wait, more are dropped", self._sink, self._max_queued)

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            if isinstance(item, threading.Event):
                item.set()
            elif self._error is None:
                context, event = item
                try:
                    context.run(self._sink, event)
                except Exception as error:  # noqa: BLE001 - told to the hub at the next event
                    self._error = error
        self._close_sink()

    def _close_sink(self) -> None:
        if isinstance(self._sink, Closable):
            try:
                self._sink.close()
            except Exception as error:  # noqa: BLE001 - there is nobody left to tell
                logger.warning("event sink %r failed to close: %s", self._sink, type(error).__name__)


_Item = tuple[Context, Event] | threading.Event | None

_all: weakref.WeakSet[BackgroundSink] = weakref.WeakSet()


def _after_fork() -> None:
    for sink in list(_all):
        sink.after_fork()


os.register_at_fork(after_in_child=_after_fork)
