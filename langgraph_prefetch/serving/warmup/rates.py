"""How many requests come at which hour of the week. No clock: times are passed in, in seconds since 1970 (UTC)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite
from typing import Any

from langgraph_prefetch.errors import ConfigurationError

HOUR, WEEK = 3_600, 7 * 24 * 3_600
HOURS = WEEK // HOUR
_MONDAY = 4 * 24 * HOUR
"""1970 began on a Thursday: so many seconds later it was Monday."""


@dataclass(slots=True)
class _Hour:
    week: int
    count: float = 0.0
    total: float = 0.0
    weeks: float = 0.0

    def at(self, week: int, keep: float) -> tuple[float, float]:
        """Weighted requests and weighted weeks, of the weeks before ``week``."""
        passed = week - self.week
        if passed <= 0:
            return self.total, self.weeks
        faded = keep**passed
        # The week that was counted, then weeks in which nobody came.
        weeks = self.weeks * faded + (1 - faded) / (1 - keep)
        return (self.total * keep + self.count) * keep ** (passed - 1), weeks


class WeeklyRates:
    """Requests by hour of the week; each week counts ``keep`` times as much as the one after it.

    Weeks in which no request came at an hour count as such, from the first request of all on. A clock that goes back
    adds to the newest week that there was.

    Args:
        keep: weight of the last week beside the one before it, in [0, 1).
        utc_offset_seconds: of the clock by which people's weeks go.

    Raises:
        ConfigurationError: a value out of its range.
    """

    def __init__(self, *, keep: float = 0.7, utc_offset_seconds: float = 0.0) -> None:
        if not 0 <= keep < 1 or not isfinite(utc_offset_seconds):
            raise ConfigurationError(f"keep lies in [0, 1), not {keep}, and an offset is finite")
        self._keep, self._offset = keep, utc_offset_seconds
        self._first: int | None = None
        self._hours: dict[int, _Hour] = {}

    def arrived(self, at: float, requests: float = 1.0) -> None:
        """So many came at ``at``."""
        week, hour = self._place(at)
        absolute = week * HOURS + hour
        if self._first is None or absolute < self._first:
            self._first = absolute
        held = self._hour(hour, week)
        if week > held.week:
            held.total, held.weeks = held.at(week, self._keep)
            held.week, held.count = week, 0.0
        held.count += requests

    def rate(self, at: float) -> float | None:
        """Requests a second to be expected at ``at``; None where no week is known of that hour."""
        week, hour = self._place(at)
        if self._first is None:
            return None
        total, weeks = self._hour(hour, week, add=False).at(week, self._keep)
        return total / (weeks * HOUR) if weeks else None

    def most(self, start: float, seconds: float) -> float | None:
        """The highest rate that is to be expected in the ``seconds`` from ``start`` on."""
        steps = min(HOURS, max(0, ceil(seconds / HOUR)))
        times = [start + min(seconds, step * HOUR) for step in range(steps + 1)]
        found = [rate for at in times if (rate := self.rate(at)) is not None]
        return max(found, default=None)

    def as_json(self) -> dict[str, Any]:
        """All that is known, to be kept between processes."""
        return {
            "keep": self._keep,
            "utc_offset_seconds": self._offset,
            "first": self._first,
            "hours": {str(hour): [e.week, e.count, e.total, e.weeks] for hour, e in self._hours.items()},
        }

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> WeeklyRates:
        """What `as_json` gave.

        Raises:
            ConfigurationError: it is not.
        """
        try:
            made = cls(keep=float(told["keep"]), utc_offset_seconds=float(told["utc_offset_seconds"]))
            made._first = None if told["first"] is None else int(told["first"])
            for hour, values in told["hours"].items():
                made._hours[int(hour) % HOURS] = _hour_of(values)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ConfigurationError(f"no weekly rates: {type(error).__name__}") from error
        return made

    def _place(self, at: float) -> tuple[int, int]:
        if not isfinite(at):
            raise ConfigurationError(f"a time in seconds since 1970 is finite, not {at}")
        hours = floor((at + self._offset - _MONDAY) / HOUR)
        return divmod(hours, HOURS)

    def _hour(self, hour: int, week: int, *, add: bool = True) -> _Hour:
        held = self._hours.get(hour)
        if held is None:
            first = self._first if self._first is not None else week * HOURS + hour
            began = first // HOURS + (hour < first % HOURS)  # the first week in which this hour was watched
            held = _Hour(min(began, week))
            if add:
                self._hours[hour] = held
        return held


def _hour_of(values: Sequence[Any]) -> _Hour:
    week, count, total, weeks = values
    return _Hour(int(week), float(count), float(total), float(weeks))
