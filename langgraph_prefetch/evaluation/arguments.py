"""From a recorded query to the typed arguments of a call, and from a guessed query to those it would have."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping
from typing import Any

from langgraph_prefetch.evaluation.traces import Episode, RecordedStep

QUERY = "query"
"""The name given to the argument of a call that was recorded as a bare string or list."""


def arguments_of(step: RecordedStep) -> Mapping[str, Any]:
    """The arguments of a step's call. A string that is the JSON or the ``repr`` of an object is that object."""
    if isinstance(step.query, Mapping):
        return step.query
    written = _object_in(step.query) if isinstance(step.query, str) else None
    return {QUERY: step.query} if written is None else written


def query_argument(episodes: Iterable[Episode], tool: str) -> str | None:
    """The argument that a guess fills, as the tool's schema would tell.

    A recording holds no schemas, so one is read off its calls: an argument that every call has is a required one, and
    a guess can be made if exactly one is required and is always a string. A tool that is never called takes ``query``,
    so that false starts show also where no search was made.
    """
    calls = [arguments_of(step) for episode in episodes for step in episode.steps if step.action == tool]
    if not calls:
        return QUERY
    required = set.intersection(*(set(call) for call in calls))
    if len(required) != 1:
        return None
    name = required.pop()
    return name if all(isinstance(call[name], str) for call in calls) else None


def spoken_query(arguments: Mapping[str, Any], argument: str | None) -> str | None:
    """The text of a call that its thought may hold: the named argument, else its longest string."""
    if argument is not None and isinstance(arguments.get(argument), str):
        return str(arguments[argument])
    texts = [value for value in arguments.values() if isinstance(value, str)]
    return max(texts, key=len) if texts else None


def _object_in(text: str) -> Mapping[str, Any] | None:
    if not text.startswith("{") or not text.rstrip().endswith("}"):
        return None
    for parse in (json.loads, ast.literal_eval):
        try:
            value = parse(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
        if isinstance(value, dict) and all(isinstance(name, str) for name in value):
            return value
    return None
