"""How quick a service answers, and what follows for how long to wait for it. Pure arithmetic on what was measured."""

from __future__ import annotations

LEAST_LOOKUP_SECONDS, MOST_LOOKUP_SECONDS = 0.03, 0.1
LEAST_POLL_SECONDS, MOST_POLL_SECONDS = 0.002, 0.05
FIRST_POLL_SECONDS = 0.005
PATIENT_SECONDS = 1.0
"""Of a search whose usual length is not known; after that polls become rarer."""
LATE_SHARE = 0.05


class Latency:
    """Smoothed mean and deviation of answer times, as TCP keeps them for its retransmission timer (RFC 6298)."""

    __slots__ = ("deviation", "mean")

    def __init__(self) -> None:
        self.mean: float | None = None
        self.deviation = 0.0

    def add(self, seconds: float) -> None:
        """One more answer."""
        if self.mean is None:
            self.mean, self.deviation = seconds, seconds / 2
            return
        self.deviation += (abs(seconds - self.mean) - self.deviation) / 4
        self.mean += (seconds - self.mean) / 8

    @property
    def lookup_seconds(self) -> float:
        """How long one look may take: its usual time and four deviations, within bounds."""
        if self.mean is None:
            return MOST_LOOKUP_SECONDS
        return min(MOST_LOOKUP_SECONDS, max(LEAST_LOOKUP_SECONDS, self.mean + 4 * self.deviation))

    @property
    def poll_seconds(self) -> float:
        """How long to pause between looks: twice what one takes, so that at most a third of the time is spent on it."""
        if self.mean is None:
            return FIRST_POLL_SECONDS
        return min(MOST_POLL_SECONDS, max(LEAST_POLL_SECONDS, 2 * self.mean))


def pause_before_next_look(waited: float, typical: float | None, poll: float) -> float:
    """Seconds until the next look for one result.

    As short as looks allow while a result is due at any moment, then a twentieth of the time that it is late.

    Args:
        waited: seconds since it was asked for.
        typical: how long such a search takes; None while unknown.
        poll: the shortest pause.
    """
    late = waited - (PATIENT_SECONDS if typical is None else 2 * typical)
    return max(poll, LATE_SHARE * late)
