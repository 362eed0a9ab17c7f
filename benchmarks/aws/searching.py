"""What the workers of the benchmark search with, imported by them by name; and what its agents search with."""

from __future__ import annotations

import os
import time
import uuid
from functools import cache
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool

from langgraph_prefetch.jobs import Job
from langgraph_prefetch.suites.own import kept_store, search_tool
from langgraph_prefetch.suites.scripted import Scripted, file_script
from langgraph_prefetch.values import Output

LOG, DATABASE, LATENCY = "BENCHMARK_SEARCH_LOG", "BENCHMARK_DATABASE", "BENCHMARK_LATENCY"
STUDY = Path(__file__).parents[2] / "evals" / "study"
LOGGED_SECONDS = 0.2


async def echo(job: Job) -> Output:
    """No search at all: what is left is the way there and back."""
    return Output(f"passages about {job.arguments['query']}")


def logged(job: Job) -> Output:
    """A search that leaves a line when it ends; no two give the same."""
    time.sleep(LOGGED_SECONDS)
    found = f"{job.arguments['query']} {uuid.uuid4().hex}"
    with Path(os.environ[LOG]).open("a", encoding="utf-8") as file:  # one write of a short line is whole
        file.write(f"{found}\n")
    return Output(found)


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
