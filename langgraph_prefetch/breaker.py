"""A circuit breaker on the library ``purgatory``: its states and transitions, with the time passed in.

The one of this package: services that searches go through (``aws``) and components behind gateways (``serving``).

A breaker in front of each component, with an answer that is marked as degraded behind it, is what a production study
of compound systems found needed so that one slow model does not take the whole agent down (arXiv 2604.25724).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import Literal

from langgraph_prefetch.errors import BreakerOpenError, ConfigurationError, MissingExtraError

try:
    import purgatory.domain.model as states
except ImportError as error:
    raise MissingExtraError(error.name or "purgatory", "aws,serving") from error  # those who import it know which


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerRule:
    """When a component, or a service, is no longer asked.

    Attributes:
        failures: so many in a row open the breaker.
        open_seconds: so long it stays open; then one call tries, and what comes of it closes or opens it again.
    """

    failures: int = 5
    open_seconds: float = 5.0

    def __post_init__(self) -> None:
        if self.failures < 1:
            raise ConfigurationError(f"failures starts at 1, not {self.failures}")
        if not (isfinite(self.open_seconds) and self.open_seconds >= 0):
            raise ConfigurationError(f"open_seconds must be 0 or more, not {self.open_seconds}")


@dataclass(frozen=True, slots=True)
class Entered:
    """A call that was let through. What comes of it counts only while the breaker is in the state that let it."""

    era: int
    trial: bool


class Breaker:
    """Opens after some failures in a row, and lets one call try after a while. Not safe for threads; no clock.

    The library would read the wall clock, which jumps; here it only moves between its states, and times are passed in.
    """

    def __init__(self, name: str, rule: BreakerRule) -> None:
        self._name, self._rule = name, rule
        self._context = self._in("closed")
        self._opened_at = 0.0
        self._era = 0
        self._trying = False

    @property
    def state(self) -> str:
        """``closed``, ``opened`` or ``half-opened``."""
        return str(self._context.state)

    def remaining(self, now: float) -> float:
        """Seconds until a call may try; 0 while calls are let through."""
        if self._trying:
            return self._rule.open_seconds
        if self._context.state != states.OPENED:
            return 0.0
        # A clock that went back must not keep it open for longer than it was to be.
        return min(self._rule.open_seconds, max(0.0, self._opened_at + self._rule.open_seconds - now))

    def enter(self, now: float) -> Entered:
        """A call begins.

        Raises:
            BreakerOpenError: the component is not to be asked.
        """
        remaining = self.remaining(now)
        if remaining > 0:
            raise BreakerOpenError(self._name, remaining)
        if self._context.state == states.OPENED:
            self._context, self._era = self._in("half-opened"), self._era + 1
        self._trying = trial = self._context.state == states.HALF_OPENED
        return Entered(self._era, trial)

    def leave(self, entered: Entered, now: float, error: BaseException | None) -> None:
        """The call is over; ``error``: of the component, None where it works."""
        if entered.era != self._era:
            return
        before = self._context.state
        self._context.__exit__(type(error) if error is not None else None, error, None)
        self._context.messages.clear()
        self._trying = False
        if self._context.state != before:
            self._era += 1
            self._opened_at = now

    def abandon(self, entered: Entered) -> None:
        """The call is over, and nothing is known: the caller went away, or did something wrong itself."""
        if entered.era == self._era:
            self._trying = False

    def _in(self, state: Literal["opened", "closed", "half-opened"]) -> states.Context:
        return states.Context(self._name, self._rule.failures, inf, state=state)
