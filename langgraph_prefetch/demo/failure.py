"""What can keep the demo from running, in one line."""

from __future__ import annotations

from langgraph_prefetch.errors import PrefetchError


class DemoError(PrefetchError):
    """Something the demo needs does not work here; the message says what, and what to do where that is known."""
