"""What workers search with under ``eval study --target aws``: its name is in ``aws_target.WORKER``.

The same tool as the agent's, on the database that ``LANGGRAPH_PREFETCH_DATABASE`` names. It is opened when it is asked
for, not when this module is imported.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from langchain_core.tools import BaseTool

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.suites.aws_target import DATABASE
from langgraph_prefetch.suites.own import described, kept_store, search_tool
from langgraph_prefetch.suites.suite_file import find_suite, read_suite

SMOKE = "LANGGRAPH_PREFETCH_STUDY_SMOKE"
"""In the environment: as in ``eval study --smoke``."""


def __getattr__(name: str) -> Any:
    if name != "search":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return made()


@cache
def made() -> BaseTool:
    """The tool.

    Raises:
        ConfigurationError: the environment names no database.
        StoreError: it cannot be reached.
    """
    url = os.environ.get(DATABASE)
    if not url:
        raise ConfigurationError(f"a worker of the study needs {DATABASE} in the environment: the database's URL")
    file = read_suite(find_suite("study"), smoke=bool(os.environ.get(SMOKE)))
    script = described(file.settings, file.folder)
    return search_tool(kept_store(script.passages, url, fill=False), float(file.settings["agent"]["latency_seconds"]))
