"""What the demo's workers search with: their ``--retriever`` is ``RETRIEVER``."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from langchain_core.tools import BaseTool

from langgraph_prefetch.demo.agent import search_tool
from langgraph_prefetch.demo.corpus import passages
from langgraph_prefetch.demo.filling import opened_store
from langgraph_prefetch.errors import ConfigurationError

RETRIEVER = "langgraph_prefetch.demo.aws.searching:search"
DATABASE, LATENCY = "LANGGRAPH_PREFETCH_DEMO_DATABASE", "LANGGRAPH_PREFETCH_DEMO_LATENCY"


@cache
def _made() -> BaseTool:
    missing = [name for name in (DATABASE, LATENCY) if not os.environ.get(name)]
    if missing:
        raise ConfigurationError(f"a worker of the demo needs {' and '.join(missing)} in its environment")
    return search_tool(opened_store(os.environ[DATABASE], passages()), float(os.environ[LATENCY]))


def __getattr__(name: str) -> Any:
    if name == "search":  # opened for a worker, not for whoever imports this module
        return _made()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
