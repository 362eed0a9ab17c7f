"""Events to a file, one a line, without ever holding up a run."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.events import Event
from langgraph_prefetch.observe.background import BackgroundSink
from langgraph_prefetch.observe.event_file import EventFile, read_events
from langgraph_prefetch.observe.event_lines import to_line
from langgraph_prefetch.observe.rotation import RotatingFile

__all__ = ["EventFile", "JsonlSink", "read_events"]

logger = logging.getLogger("langgraph_prefetch")


class JsonlSink:
    """Appends each event to ``path`` as a line of JSON, for :func:`read_events` and ``langgraph-prefetch timeline``.

    Writing happens on a thread of its own. A disk that is full or slow, or a path that cannot be written, costs no run
    anything: it is logged once, and what is not written is counted in :attr:`dropped`. A forked child writes to
    ``name-<pid>.ext`` beside it; processes that start by themselves need paths of their own.

    Args:
        path: the file; it is appended to if it exists.
        max_bytes: beyond it the file becomes ``path.1``, the one before it ``path.2``, and so on.
        keep: how many full files are kept besides the one being written.
        max_queued: how many events may wait to be written; more are dropped.

    Raises:
        ConfigurationError: a bound that makes no sense.
    """

    def __init__(
        self, path: str | Path, *, max_bytes: int = 64 * 2**20, keep: int = 3, max_queued: int = 8_192
    ) -> None:
        require_at_least("max_bytes", max_bytes, 1)
        require_at_least("keep", keep, 0)
        self._writer = _Writer(RotatingFile(path, max_bytes=int(max_bytes), keep=int(keep)))
        self._queue = BackgroundSink(self._writer, max_queued=max_queued)

    def __call__(self, event: Event) -> None:
        """Take one event. Never blocks, never raises."""
        self._queue(event)

    @property
    def path(self) -> Path:
        """The file that is written."""
        return self._writer.file.path

    @property
    def dropped(self) -> int:
        """How many events were not written."""
        return self._queue.dropped + self._writer.lost

    @property
    def stopped(self) -> str | None:
        """Why nothing is written any more; None while all is well."""
        return self._writer.stopped

    def flush(self, timeout_seconds: float = 5.0) -> bool:
        """Wait until all events so far are written or dropped; False if that took longer than ``timeout_seconds``."""
        return self._queue.flush(timeout_seconds)

    def close(self, timeout_seconds: float = 5.0) -> bool:
        """Write what waits and close the file; False if that took longer than ``timeout_seconds``. Idempotent.

        The end of the process does the same. Later events are ignored.
        """
        return self._queue.close(timeout_seconds)

    def __enter__(self) -> JsonlSink:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"JsonlSink({str(self.path)!r})"


class _Writer:
    """The thread's side: writes, until that fails for the first time."""

    def __init__(self, file: RotatingFile) -> None:
        self.file = file
        self.lost = 0
        self.stopped: str | None = None

    def __call__(self, event: Event) -> None:
        if self.stopped is not None:
            self.lost += 1
            return
        try:
            self.file.write(to_line(event).encode("ascii"))
        except ValueError:  # a number that JSON has no word for
            self.lost += 1
        except OSError as error:
            self.lost += 1
            self.stopped = error.strerror or type(error).__name__
            logger.warning("%s cannot be written (%s): events are no longer kept", self.file.path, self.stopped)
            self.close()

    def close(self) -> None:
        try:
            self.file.close()
        except OSError as error:
            self.stopped = self.stopped or error.strerror or type(error).__name__
