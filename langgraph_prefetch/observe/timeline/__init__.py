"""Draws what happened in a run: one page that opens anywhere, or a picture of it."""

from langgraph_prefetch.observe.timeline.page import timeline_page
from langgraph_prefetch.observe.timeline.picture import to_png
from langgraph_prefetch.observe.timeline.write import write_timeline

__all__ = ["timeline_page", "to_png", "write_timeline"]
