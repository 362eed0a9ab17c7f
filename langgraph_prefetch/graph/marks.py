"""What a served call's run says of itself in a trace, where the user asked for it."""

from __future__ import annotations

from typing import Any

from langgraph_prefetch.events import SearchCallAnswered

PREFIX = "langgraph_prefetch."
"""Flat names, since traces are filtered by metadata key; the same as the attributes of the OpenTelemetry spans."""


def marks_of(answered: SearchCallAnswered) -> dict[str, Any]:
    """Metadata for the run of a call that was answered so. Seconds are rounded to microseconds."""
    marks: dict[str, Any] = {
        f"{PREFIX}served": answered.source is not None,
        f"{PREFIX}source": answered.source.value if answered.source is not None else "none",
        f"{PREFIX}late": answered.late,
        f"{PREFIX}waited_seconds": round(answered.waited_seconds, 6),
        f"{PREFIX}hidden_seconds": round(answered.hidden_seconds, 6),
    }
    if answered.speculation_id is not None:
        marks[f"{PREFIX}speculation_id"] = answered.speculation_id
    return marks
