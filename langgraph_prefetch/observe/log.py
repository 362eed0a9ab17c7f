"""Events as structured log records of one line each."""

from __future__ import annotations

import dataclasses
import logging
from enum import Enum
from typing import Any

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.events import (
    BreakerMoved,
    ComponentCalled,
    ComponentWarmed,
    Event,
    Fate,
    NearAnswered,
    NearChecked,
    NearFetched,
    NearIgnored,
    NearTierChanged,
    NextCallEnded,
    NextCallFate,
    NextCallIgnored,
    NextCallStarted,
    PipelineEnded,
    RunEnded,
    RunStarted,
    SearchCallAnswered,
    SpeculationEnded,
    SpeculationIgnored,
    SpeculationJoined,
    SpeculationStarted,
    StagePressure,
    StageVisited,
    StepEnded,
    StepStarted,
    Trouble,
    VariantAssigned,
)
from langgraph_prefetch.observe.rate_limit import PerMinute

LOGGER = "langgraph_prefetch.events"
PREFIX = "prefetch_"
MAX_TEXT = 500
"""Longer texts are cut in the line; the record's field keeps all of it."""
_QUOTED = frozenset(" =\"'")

NAMES: dict[type[Any], str] = {
    RunStarted: "run_started",
    StepStarted: "step_started",
    StepEnded: "step_ended",
    SpeculationStarted: "speculation_started",
    SpeculationJoined: "speculation_joined",
    SpeculationIgnored: "speculation_ignored",
    SpeculationEnded: "speculation_ended",
    SearchCallAnswered: "search_call_answered",
    NextCallStarted: "next_call_started",
    NextCallIgnored: "next_call_ignored",
    NextCallEnded: "next_call_ended",
    NearFetched: "near_fetched",
    NearIgnored: "near_ignored",
    NearAnswered: "near_answered",
    NearChecked: "near_checked",
    NearTierChanged: "near_tier_changed",
    VariantAssigned: "variant_assigned",
    StageVisited: "stage_visited",
    StagePressure: "stage_pressure",
    ComponentCalled: "component_called",
    BreakerMoved: "breaker_moved",
    PipelineEnded: "pipeline_ended",
    ComponentWarmed: "component_warmed",
    RunEnded: "run_ended",
    Trouble: "trouble",
}
"""What each kind of event is called in ``prefetch_event``."""


_FIELDS = {kind: tuple(each.name for each in dataclasses.fields(kind)) for kind in NAMES}


class LogSink:
    """An event sink that logs. Safe for threads.

    The message is the event's name and its fields, on one line. Each field is an attribute of the record too, under its
    own name with ``prefetch_`` before it (``prefetch_tool``, ``prefetch_waited_seconds``), with ``prefetch_event`` for
    the name and, on warnings, ``prefetch_suppressed``: how many equal ones were left out before.

    Levels: WARNING for troubles, failed speculations and private model calls, opened breakers and failed warm-ups, INFO
    for answered search calls, ended runs and pipelines, DEBUG for the rest. Query text appears where events carry it:
    only under the option ``log_queries``.

    Args:
        logger: where to; ``langgraph_prefetch.events`` if None.
        warnings_per_minute: how many warnings of one kind (event, tool and error) may be logged in a minute.

    Raises:
        ConfigurationError: ``warnings_per_minute`` is below 1.
    """

    def __init__(self, logger: logging.Logger | None = None, *, warnings_per_minute: int = 6) -> None:
        if warnings_per_minute < 1:
            raise ConfigurationError(f"warnings_per_minute must be at least 1, not {warnings_per_minute!r}")
        self._logger = logger if logger is not None else logging.getLogger(LOGGER)
        self._limit = PerMinute(warnings_per_minute)

    def __call__(self, event: Event) -> None:
        """Log one event."""
        level = level_of(event)
        if not self._logger.isEnabledFor(level):
            return
        suppressed = 0
        if level >= logging.WARNING:
            allowed = self._limit.ask(_kind(event), event.at)
            if allowed is None:
                return
            suppressed = allowed
        fields = fields_of(event)
        extra = {f"{PREFIX}{name}": value for name, value in fields.items()}
        if suppressed:
            extra[f"{PREFIX}suppressed"] = suppressed
        name = NAMES[type(event)]
        told = " ".join(f"{each}={_line(value)}" for each, value in fields.items() if value is not None)
        tail = f" ({suppressed} more like it left out)" if suppressed else ""
        self._logger.log(level, "%s %s%s", name, told, tail, extra={**extra, f"{PREFIX}event": name})


def level_of(event: Event) -> int:
    """The logging level of an event."""
    match event:
        case Trouble() | SpeculationEnded(fate=Fate.FAILED) | NextCallEnded(fate=NextCallFate.FAILED):
            return logging.WARNING
        case NearTierChanged(open=False) | BreakerMoved(state="opened") | ComponentWarmed(failed=True):
            return logging.WARNING
        case SearchCallAnswered() | RunEnded() | NearTierChanged() | PipelineEnded():
            return logging.INFO
        case _:
            return logging.DEBUG


def fields_of(event: Event) -> dict[str, Any]:
    """The fields of an event as plain values, in their order."""
    return {name: _plain(getattr(event, name)) for name in _FIELDS[type(event)]}


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value


def _line(value: Any) -> str:
    """``value`` with nothing in it that could begin another line, or look like another field."""
    if isinstance(value, float):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    if not isinstance(value, str):
        return str(value)
    text = value if len(value) <= MAX_TEXT else f"{value[:MAX_TEXT]}…"
    return text if text and text.isprintable() and not _QUOTED & set(text) else repr(text)


def _kind(event: Event) -> tuple[str, ...]:
    match event:
        case Trouble():
            return ("trouble", event.where, event.error)
        case SpeculationEnded():
            return ("speculation_ended", event.tool, event.reason)
        case NextCallEnded():
            return ("next_call_ended", event.reason)
        case NearTierChanged():
            return ("near_tier_changed", event.tool, event.tier)
        case _:
            return (NAMES[type(event)],)
