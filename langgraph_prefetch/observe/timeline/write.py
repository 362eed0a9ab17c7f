"""A timeline to a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from langgraph_prefetch.errors import TimelineError
from langgraph_prefetch.events import Event
from langgraph_prefetch.observe.timeline.page import TITLE, timeline_page
from langgraph_prefetch.observe.timeline.picture import find_browser, to_png


def write_timeline(
    events: Iterable[Event],
    path: str | Path,
    *,
    title: str | None = None,
    note: str | None = None,
    browser: str | None = None,
) -> Path:
    """Draw events to ``path``: a page for ``.html``, a picture for ``.png``.

    Args:
        events: in any order; what was recorded in part is drawn in part.
        path: where to; an existing file is replaced.
        title: the page's heading.
        note: a sentence under its numbers.
        browser: what draws a picture; one that is installed if None.

    Raises:
        TimelineError: another ending, a path that cannot be written, or no browser for a picture.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in (".html", ".htm", ".png"):
        raise TimelineError(f"a timeline is written as .html or .png, not {path.suffix or path.name!r}")
    if kind == ".png":
        find_browser(browser)  # before the work
    page = timeline_page(events, title=title or TITLE, note=note)
    content = to_png(page, browser=browser) if kind == ".png" else page.encode()
    try:
        path.write_bytes(content)
    except OSError as error:
        raise TimelineError(f"cannot write {path}: {error.strerror or type(error).__name__}") from error
    return path
