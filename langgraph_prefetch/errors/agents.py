"""Agents that a service runs."""

from __future__ import annotations

from langgraph_prefetch.errors.base import PrefetchError


class ServiceAgentError(PrefetchError):
    """A service's agent did not come to an answer."""


class AgentTimeoutError(ServiceAgentError, TimeoutError):
    """A turn took longer than its question allows.

    Attributes:
        seconds: how long it might have taken.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"the agent had not answered after the question's {seconds:g} s: give it more seconds=")


class AgentRoundsError(ServiceAgentError):
    """An agent left actions to its caller more often than one turn may.

    Attributes:
        rounds: how often it might have.
    """

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        super().__init__(
            f"the agent has left actions to its caller {rounds} times and goes on: it may be turning in a circle, or "
            "needs a larger max_rounds="
        )
