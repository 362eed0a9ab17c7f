"""What workers search with where the search itself is of no interest. Imports little, so that they start soon."""

from __future__ import annotations

import os
import time
import uuid
from pathlib import Path

from langgraph_prefetch.jobs import Job
from langgraph_prefetch.values import Output

LOG = "BENCHMARK_SEARCH_LOG"
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
