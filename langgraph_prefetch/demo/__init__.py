"""``langgraph-prefetch demo``: one agent, bare and wrapped, on a real vector search. Needs the extra ``demo``."""

from langgraph_prefetch.demo import _extras  # noqa: F401 - first, so that a missing library is named by its extra
from langgraph_prefetch.demo.command import add_arguments, run

__all__ = ["add_arguments", "run"]
