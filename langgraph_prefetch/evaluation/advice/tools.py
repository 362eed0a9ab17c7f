"""What the runs tell about each tool: its calls, how long they took, and which argument a guess would fill. Pure."""

from __future__ import annotations

import json
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langgraph_prefetch.evaluation.importers.values import TracedCall, TracedRun

_CONSTANT = 0.9
"""An argument is fixed that has one value in this share of the calls: guesses pass it, the other calls are misses."""
_MAX_FIXED_TEXT = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFacts:
    """One tool.

    Attributes:
        name: as the model calls it.
        calls, runs: how many, and in how many runs.
        typical_seconds: the median of the recorded durations; what is assumed where none was recorded.
        recorded: calls whose duration was recorded.
        results: calls whose result was recorded.
        query_argument: the text that a guess would fill; None where the calls do not show one.
        fixed: what else all calls pass; a guess has to pass it too.
        arguments: names of the arguments that all calls have.
    """

    name: str
    calls: int
    runs: int
    typical_seconds: float
    recorded: int = 0
    results: int = 0
    query_argument: str | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)
    arguments: tuple[str, ...] = ()


def facts_of(runs: Sequence[TracedRun], assumed_seconds: float, *, texts: bool = False) -> tuple[ToolFacts, ...]:
    """The tools of some runs, the one called most first.

    Args:
        runs: all of them.
        assumed_seconds: how long a call takes where that was never recorded.
        texts: whether constant texts may be fixed arguments. They would be shown, and may be anybody's name or key.
    """
    calls: defaultdict[str, list[TracedCall]] = defaultdict(list)
    seen: defaultdict[str, set[int]] = defaultdict(set)
    for number, run in enumerate(runs):
        for call in calls_of(run):
            calls[call.name].append(call)
            seen[call.name].add(number)
    found = (_facts(name, made, len(seen[name]), assumed_seconds, texts=texts) for name, made in calls.items())
    return tuple(sorted(found, key=lambda each: (-each.calls, each.name)))


def calls_of(run: TracedRun) -> Iterable[TracedCall]:
    """All calls of a run, in order."""
    return (call for step in run.steps for call in step.calls)


def written(value: Any) -> str:
    """A value as canonical JSON, so that equal ones are equal texts."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def _facts(name: str, calls: Sequence[TracedCall], runs: int, assumed: float, *, texts: bool) -> ToolFacts:
    seconds = [call.seconds for call in calls if call.seconds is not None]
    common = set.intersection(*(set(call.arguments) for call in calls))
    query, fixed = _query(calls, common, texts=texts)
    return ToolFacts(
        name=name,
        calls=len(calls),
        runs=runs,
        typical_seconds=statistics.median(seconds) if seconds else assumed,
        recorded=len(seconds),
        results=sum(call.result is not None for call in calls),
        query_argument=query,
        fixed=fixed,
        arguments=tuple(sorted(common)),
    )


def _query(calls: Sequence[TracedCall], common: set[str], *, texts: bool) -> tuple[str | None, Mapping[str, Any]]:
    """The only text that varies, if all other arguments are the same in nearly all calls."""
    constant: dict[str, Any] = {}
    varying: list[str] = []
    for name in sorted(common):
        counted = Counter(written(call.arguments[name]) for call in calls)
        value, times = counted.most_common(1)[0]
        if len(common) > 1 and len(calls) > 1 and times >= _CONSTANT * len(calls) and not _may_be_query(name):
            constant[name] = json.loads(value)
        else:
            varying.append(name)
    if len(varying) != 1 or not all(isinstance(call.arguments[varying[0]], str) for call in calls):
        return None, {}
    if not all(_showable(value, texts=texts) for value in constant.values()):
        return None, {}
    return varying[0], constant


def _may_be_query(name: str) -> bool:
    """Named as a query, it is one, however often the same thing was asked."""
    return "quer" in name.lower() or name.lower() in ("q", "question", "search", "text", "input")


def _showable(value: Any, *, texts: bool) -> bool:
    if value is None or isinstance(value, bool | int | float):
        return True
    return texts and isinstance(value, str) and len(value) <= _MAX_FIXED_TEXT
