"""The keyword arguments of every way in, for type checkers and editors; a test keeps them equal to the options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from langgraph_prefetch.config import Budgets, ForceStreaming, NextCalls, Price, ScopeOf, ServeMode
from langgraph_prefetch.guesses import ResultGuesser
from langgraph_prefetch.jobs import JobQueue, ResultCache
from langgraph_prefetch.near_miss import NearMiss
from langgraph_prefetch.outbound import MaySend


class OptionTypes(TypedDict, total=False):
    """See :class:`~langgraph_prefetch.config.PrefetchOptions` for what each means and its default."""

    serve: ServeMode
    threshold: float | None
    reuse_seconds: float | None
    scope: ScopeOf | None
    ignore_configurable: tuple[str, ...]
    force_streaming: ForceStreaming
    budgets: Budgets
    max_age_seconds: float
    max_wait_seconds: float
    log_queries: bool
    trace_speculations: bool
    mark_served: bool
    value_of_second: Price | None
    dry_run: bool
    may_send: MaySend | None
    next_calls: NextCalls
    guesser: ResultGuesser | None
    near: Mapping[str, NearMiss]
    epsilon: float
    executor: JobQueue | None
    cache: ResultCache | None
