"""How many tokens make a piece. No clock and no I/O: loads and times are passed in.

Each piece that one stage hands to the next costs something however small it is. While the next stage has time, pieces
are single tokens and nothing waits; as it gets busy they grow, so that the same stage keeps up with more tokens, and
they shrink again when it has time. The first token of a stream is never held back, nor is any for longer than
``hold_seconds``.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import exp, isfinite
from typing import Generic, TypeVar

from langgraph_prefetch.errors import ConfigurationError

T = TypeVar("T")

TICK = 1e-6
"""A timer that is set for the rest of the hold may end that much too early, by the rounding of its clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grain:
    """The rules.

    Attributes:
        least, most: tokens in a piece.
        idle_below: pieces shrink at loads below; the load is 1 where the next stage is busy all the time.
        busy_above: they grow at loads above; between the two they stay.
        factor: by which they grow and shrink.
        hold_seconds: no token waits longer for its piece to be full.
        memory_seconds: over which the load is smoothed.

    Raises:
        ConfigurationError: a value out of its range.
    """

    least: int = 1
    most: int = 64
    idle_below: float = 0.75
    busy_above: float = 0.9
    factor: float = 2.0
    hold_seconds: float = 0.25
    memory_seconds: float = 1.0

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.most:
            raise ConfigurationError(f"least and most: 1 ≤ {self.least} ≤ {self.most} does not hold")
        if not 0 <= self.idle_below <= self.busy_above:
            raise ConfigurationError("idle_below and busy_above: 0 ≤ idle_below ≤ busy_above")
        if not (self.factor > 1 and self.hold_seconds >= 0 and self.memory_seconds > 0):
            raise ConfigurationError("factor is above 1, hold_seconds 0 or more, memory_seconds above 0")


def next_size(grain: Grain, size: int, load: float) -> int:
    """The size of pieces after one more look at the load."""
    if load > grain.busy_above:
        return min(grain.most, max(size + 1, round(size * grain.factor)))
    if load < grain.idle_below:
        return max(grain.least, min(size - 1, round(size / grain.factor)))
    return size


class Granularity:
    """The size of pieces for one stage, followed over time. One for all streams that go there.

    Args:
        grain: the rules.
    """

    def __init__(self, grain: Grain | None = None) -> None:
        self.grain = grain or Grain()
        self.size = self.grain.least
        self.load = 0.0
        self._at: float | None = None
        self._changed_at: float | None = None

    def see(self, load: float, now: float) -> int:
        """One more look at the load of the next stage. Returns the size from now on.

        The load is smoothed over ``memory_seconds``, and the size changes at most four times in them: a look at a
        single moment says little. A load that is no number, or a clock that went back, is passed over; a load above 2
        counts as 2, so that a burst is forgotten as fast as it came.
        """
        passed = now - self._at if self._at is not None else 0.0
        self._at = now
        if not isfinite(load) or passed < 0:
            self._changed_at = now
            return self.size
        past = exp(-passed / self.grain.memory_seconds)
        self.load = past * self.load + (1 - past) * min(2.0, max(0.0, load))
        if self._changed_at is None or now - self._changed_at >= self.grain.memory_seconds / 4:
            self.size = next_size(self.grain, self.size, self.load)
            self._changed_at = now
        return self.size


class Chunker(Generic[T]):
    """The pieces of one stream.

    Args:
        granularity: of the stage that they go to.
    """

    def __init__(self, granularity: Granularity) -> None:
        self._granularity = granularity
        self._held: deque[tuple[T, float]] = deque()
        self._begun = self._ended = False

    def __len__(self) -> int:
        return len(self._held)

    def add(self, token: T, now: float) -> None:
        """A token came."""
        self._held.append((token, now))

    def end(self) -> None:
        """No token will come: what is held need not wait for more."""
        self._ended = True

    def take(self, now: float) -> tuple[T, ...]:
        """The next piece, where one is due; else nothing.

        Everything that is held goes along, up to the most that a piece may have: it would only wait.
        """
        if not self._held or not self._due(now):
            return ()
        self._begun = True
        return tuple(self._held.popleft()[0] for _ in range(min(len(self._held), self._granularity.grain.most)))

    def due_in(self, now: float) -> float | None:
        """Seconds until what is held must not wait longer; None while nothing is."""
        if not self._held:
            return None
        return max(0.0, self._held[0][1] + self._granularity.grain.hold_seconds - now)

    def _due(self, now: float) -> bool:
        if self._ended or not self._begun or len(self._held) >= self._granularity.size:
            return True
        held = now - self._held[0][1]
        return (
            held < 0 or held >= self._granularity.grain.hold_seconds - TICK
        )  # < 0: the clock jumped, nothing is known
