"""Why something is not run early, or not served."""

from __future__ import annotations

from langgraph_prefetch.errors.base import PrefetchError


class UnkeyableError(PrefetchError):
    """The arguments hold a value with no canonical form, so equality cannot be decided."""

    def __init__(self, value: object) -> None:
        self.value_type = type(value).__name__
        super().__init__(f"a value of type {self.value_type} has no canonical form")


class SpeculationRejectedError(PrefetchError):
    """The executor takes no more speculations now: it is full or closed."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"speculation rejected: {reason}")


class NotServableError(PrefetchError):
    """A tool gave back something that no other call may be answered with."""


class SpeculationDeclinedError(PrefetchError):
    """For tools to raise where ``is_speculative()`` is true: this call is not to run early.

    Its speculation is cancelled, which is no failure of the backend. In a real call it is an error as any other.
    """
