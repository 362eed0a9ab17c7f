"""What agents and workers of the study search with; workers import it by name."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool

from langgraph_prefetch.suites.own import kept_store, search_tool
from langgraph_prefetch.suites.scripted import Scripted, file_script

DATABASE, LATENCY = "BENCHMARK_DATABASE", "BENCHMARK_LATENCY"
STUDY = Path(__file__).parents[2] / "evals" / "study"


def study_script(per_kind: int | None = None) -> Scripted:
    """The questions of the suite ``study``, with the thoughts of their model."""
    return file_script(
        [STUDY / "questions_a.jsonl", STUDY / "questions_b.jsonl"], STUDY / "passages.jsonl", per_kind=per_kind
    )


def study_tool(script: Scripted, latency_seconds: float, *, fill: bool = False) -> BaseTool:
    """The search of the suite ``study``, over the database that the environment names."""
    return search_tool(kept_store(script.passages, os.environ[DATABASE], fill=fill), latency_seconds)


@cache
def _made() -> BaseTool:
    return study_tool(study_script(), float(os.environ[LATENCY]))


def __getattr__(name: str) -> Any:
    if name == "study":  # opened when a worker asks for it, not by whoever imports this module
        return _made()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
