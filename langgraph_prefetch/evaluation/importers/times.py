"""Moments as recorders write them: seconds since 1970, milliseconds and finer, ISO 8601, or a column of moments."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from typing import Any

NAMES = ("timestamp", "time", "ts", "at", "recorded_at", "received_at", "created_at")
"""Under which of these names a recorder may have put a moment beside an event; the first that is there counts."""
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
"""From which size on a number counts nano-, micro- and milliseconds: in seconds that would be after the year 5000."""


def seconds_of(value: object) -> float | None:
    """Seconds since 1970, or since whatever a small number counts from; None if it is no moment."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        if not math.isfinite(value):
            return None
        return next((value / unit for least, unit in _UNITS if value >= least), float(value))
    try:
        moment = datetime.datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return None
    if not isinstance(moment, datetime.datetime):
        return None
    if moment.tzinfo is None:  # LangSmith's exports are in UTC and do not always say so
        moment = moment.replace(tzinfo=datetime.UTC)
    return moment.timestamp()


def moment_in(record: Mapping[str, Any]) -> float | None:
    """The moment that stands beside an event."""
    return next((found for name in NAMES if (found := seconds_of(record.get(name))) is not None), None)


def between(began: float | None, ended: float | None) -> float | None:
    """Seconds from one to the other; None if either is unknown, or clocks ran backwards."""
    return ended - began if began is not None and ended is not None and ended >= began else None
