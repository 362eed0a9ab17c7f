"""Files that cannot be read or written, and the demo."""

from __future__ import annotations

from langgraph_prefetch.errors.base import PrefetchError


class TraceFileError(PrefetchError):
    """A recording cannot be opened or read."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")


class FitError(PrefetchError):
    """Cues cannot be fitted to these traces without overfitting; the message says what is missing."""


class CueFileError(PrefetchError):
    """A file of cues cannot be opened, is broken or huge, or was written in another version of the format."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")


class EventFileError(PrefetchError):
    """A file of events cannot be opened, or was written in a format that is newer than ours."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")


class TimelineError(PrefetchError):
    """A timeline cannot be drawn or written; the message says what is missing."""


class ReportError(PrefetchError):
    """A report of a suite that cannot be written or read back; ``where`` is the place in it, or the file."""

    def __init__(self, where: str, reason: str) -> None:
        self.where, self.reason = where, reason
        super().__init__(f"{where}: {reason}")


class DemoError(PrefetchError):
    """Something the demo needs does not work here; the message says what, and what to do where that is known."""
