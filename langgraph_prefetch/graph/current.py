"""The runs that ``with prefetcher.run():`` opened: known where no graph's callbacks tell them."""

from __future__ import annotations

from contextvars import ContextVar

from langgraph_prefetch.prefetcher import PrefetchEngine, Run

current_runs: ContextVar[tuple[Run, ...]] = ContextVar("langgraph_prefetch_current_runs", default=())
"""Those of the present context, the innermost last; of any prefetcher."""


def current_run(engine: PrefetchEngine) -> Run | None:
    """The innermost of the present context's runs that ``engine`` opened."""
    return next((run for run in reversed(current_runs.get()) if run.engine is engine), None)
