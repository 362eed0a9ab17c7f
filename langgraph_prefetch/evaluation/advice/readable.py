"""How long before each call its query stood, complete, in what the model had streamed. Pure."""

from __future__ import annotations

import bisect
import itertools
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from langgraph_prefetch.evaluation.advice.rates import share
from langgraph_prefetch.evaluation.advice.schedule import Schedule, schedule
from langgraph_prefetch.evaluation.advice.tools import written
from langgraph_prefetch.evaluation.arguments import spoken_query
from langgraph_prefetch.evaluation.importers.values import TracedCall, TracedRun, TracedStep
from langgraph_prefetch.evaluation.statistics.values import Estimate
from langgraph_prefetch.intent.tool_args import ToolArgsReader
from langgraph_prefetch.values import ToolCallDelta

EARLY_SECONDS = 0.1
"""From so long before the call on a query counts as readable early: about the delay that a person notices."""
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Readability:
    """How early the queries of one tool become readable.

    Attributes:
        calls: looked at.
        early: share readable at least :data:`EARLY_SECONDS` before the call.
        in_text: share that stood in the text or reasoning at all, an action written as text included.
        seconds: from readable to the call, at :data:`QUANTILES`; a query that never stood in the stream counts as 0.
        late_queries: some that were not readable early; empty unless queries may be shown.
    """

    calls: int
    early: Estimate
    in_text: Estimate
    seconds: tuple[float, ...]
    late_queries: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class _Seen:
    run: int
    seconds: float
    in_text: bool
    query: str | None = field(repr=False)


def readability(
    runs: Sequence[TracedRun],
    tool: str,
    argument: str | None,
    *,
    tokens_per_second: float,
    graph_step_seconds: float,
    show: int = 0,
) -> Readability:
    """Look at all calls of ``tool``.

    Args:
        runs: the runs.
        tool: its name.
        argument: its query; the longest text of a call if None.
        tokens_per_second: for model calls whose times were not recorded.
        graph_step_seconds: from message to tool, where that was not recorded.
        show: how many queries may be shown.
    """
    seen = [
        each
        for number, run in enumerate(runs)
        for step in run.steps
        if any(call.name == tool for call in step.calls)
        for each in _look(step, number, tool, argument, schedule(step, tokens_per_second), graph_step_seconds)
    ]
    late = dict.fromkeys(each.query for each in seen if each.seconds < EARLY_SECONDS and each.query)
    return Readability(
        calls=len(seen),
        early=share(_by_run((each.run, each.seconds >= EARLY_SECONDS) for each in seen)),
        in_text=share(_by_run((each.run, each.in_text) for each in seen)),
        seconds=quantiles([each.seconds for each in seen]),
        late_queries=tuple(query for query in itertools.islice(late, show) if query is not None),
    )


def quantiles(values: Sequence[float]) -> tuple[float, ...]:
    """At :data:`QUANTILES`, by linear interpolation; all 0 where there is nothing."""
    if len(values) < 2:
        return tuple(values[0] if values else 0.0 for _ in QUANTILES)
    hundredths = statistics.quantiles(values, n=100, method="inclusive")
    return tuple(hundredths[round(100 * each) - 1] for each in QUANTILES)


def _look(
    step: TracedStep, run: int, tool: str, argument: str | None, times: Schedule, graph_step: float
) -> Iterable[_Seen]:
    gap = step.gap if step.gap is not None else graph_step
    sealed = _sealed_at(step, times)
    text, ends, moments = _text(step, times)
    for call in step.calls:
        if call.name != tool:
            continue
        query = spoken_query(call.arguments, argument)
        start = text.find(query) if query else -1
        known = [sealed[_key(call)]] if _key(call) in sealed else []
        if query and start >= 0:
            known.append(moments[bisect.bisect_left(ends, start + len(query))])
        yield _Seen(run, times.end - min(known) + gap if known else 0.0, start >= 0, query)


def _text(step: TracedStep, times: Schedule) -> tuple[str, list[int], list[float]]:
    told = [
        (each.text, at) for each, at in zip(step.deltas, times.at, strict=True) if not isinstance(each, ToolCallDelta)
    ]
    ends = list(itertools.accumulate(len(text) for text, _ in told))
    return "".join(text for text, _ in told), ends, [at for _, at in told]


def _sealed_at(step: TracedStep, times: Schedule) -> Mapping[tuple[str, str], float]:
    """When the arguments of each call had closed."""
    reader = ToolArgsReader()
    found: dict[tuple[str, str], float] = {}
    for delta, at in zip(step.deltas, times.at, strict=True):
        call = reader.feed(delta) if isinstance(delta, ToolCallDelta) else None
        if call is not None:
            found.setdefault((call.tool, written(dict(call.arguments))), at)
    return found


def _key(call: TracedCall) -> tuple[str, str]:
    return call.name, written(dict(call.arguments))


def _by_run(values: Iterable[tuple[int, bool]]) -> list[tuple[float, float]]:
    counts: dict[int, tuple[float, float]] = {}
    for run, hit in values:
        hits, calls = counts.get(run, (0.0, 0.0))
        counts[run] = (hits + hit, calls + 1)
    return list(counts.values())
