"""Events kept in memory, to be looked at."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from html import escape
from pathlib import Path
from types import TracebackType

from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.events import Event

MAX_EVENTS = 100_000
NOTEBOOK_PIXELS = 620


class Recording:
    """An event sink that keeps the latest events. Safe for threads.

    Args:
        max_events: how many are kept; older ones are forgotten, and counted in :attr:`forgotten`.

    Raises:
        ConfigurationError: ``max_events`` is below 1.
    """

    def __init__(self, *, max_events: int = MAX_EVENTS) -> None:
        require_at_least("max_events", max_events, 1)
        self._events: deque[Event] = deque(maxlen=int(max_events))
        self._taken = 0
        self._unsubscribe: Callable[[], None] | None = None

    def __call__(self, event: Event) -> None:
        """Take one event."""
        self._events.append(event)
        self._taken += 1

    @property
    def events(self) -> tuple[Event, ...]:
        """Those that are kept, oldest first."""
        return tuple(self._events.copy())

    @property
    def forgotten(self) -> int:
        """About how many older events are no longer kept."""
        return max(0, self._taken - len(self._events))

    def timeline(self, path: str | Path, *, title: str | None = None, browser: str | None = None) -> Path:
        """Draw the recorded runs to ``path``: a page for ``.html``, a picture for ``.png``. Returns the path.

        Raises:
            TimelineError: another ending, a path that cannot be written, or no browser for a picture.
        """
        from langgraph_prefetch.observe.timeline import write_timeline  # most runs draw none, and start sooner without

        return write_timeline(self.events, path, title=title, note=self._note(), browser=browser)

    def subscribed(self, unsubscribe: Callable[[], None]) -> Recording:
        """Told by what it records: how to stop."""
        self._unsubscribe = unsubscribe
        return self

    def stop(self) -> None:
        """Record nothing more; what was recorded is kept. Idempotent."""
        unsubscribe, self._unsubscribe = self._unsubscribe, None
        if unsubscribe is not None:
            unsubscribe()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def __len__(self) -> int:
        return len(self._events)

    def __repr__(self) -> str:
        return f"<Recording of {len(self)} events>"

    def _repr_html_(self) -> str:
        """In a notebook: the timeline in a frame of its own, which can do nothing to the notebook."""
        from langgraph_prefetch.observe.timeline import timeline_page

        page = escape(timeline_page(self.events, note=self._note()), quote=True)
        return (
            f'<iframe title="Prefetch timeline" sandbox="allow-scripts" srcdoc="{page}" width="100%" '
            f'height="{NOTEBOOK_PIXELS}" style="border:0"></iframe>'
        )

    def _note(self) -> str | None:
        return f"About {self.forgotten} older events were not kept." if self.forgotten else None
