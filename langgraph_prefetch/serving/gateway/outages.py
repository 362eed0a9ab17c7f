"""Which errors say that a component does not work, and which say something else."""

from __future__ import annotations

from langchain_core.tools import ToolException

_SIGNAL = "GraphBubbleUp"
"""What the host raises to interrupt a run or to send it elsewhere, by name: only the graph room imports the host."""
_NOT_THE_CALLER = frozenset({408, 409, 425, 429})
"""Statuses below 500 that say that the server is busy, not that the request is wrong."""


def is_signal(error: BaseException) -> bool:
    """It is no failure: whoever called must see it as it is."""
    return any(kind.__name__ == _SIGNAL for kind in type(error).__mro__)


def is_outage(error: BaseException) -> bool:
    """The component does not work, or not in time. A request it refuses (4xx) or a tool's word to the model is none."""
    if not isinstance(error, Exception) or isinstance(error, ToolException) or is_signal(error):
        return False
    status = status_of(error)
    return status is None or not 400 <= status < 500 or status in _NOT_THE_CALLER


def status_of(error: BaseException) -> int | None:
    """The HTTP status that the error carries, where the client libraries put it."""
    for holder in (error, getattr(error, "response", None)):
        status = getattr(holder, "status_code", None)
        if isinstance(status, int):
            return status
        if isinstance(holder, dict):  # boto3's
            status = (holder.get("ResponseMetadata") or {}).get("HTTPStatusCode")
            if isinstance(status, int):
                return status
    return None


class PassingError(BaseException):
    """Carries an error past LangChain's fallbacks, which handle every `Exception`; never seen outside."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
