"""What a worker has done, in numbers that add up; as text for Prometheus too."""

from __future__ import annotations

import threading
from dataclasses import dataclass, fields

PREFIX = "langgraph_prefetch_worker_"


@dataclass(slots=True)
class Counts:
    """Messages by how they ended, and searches.

    ``received = served + failed + expired + duplicate + unreadable + retried + returned + lost + held``

    Attributes:
        received: messages taken from the queue.
        served: searches whose result is in the table.
        failed: searches that failed for good.
        expired: messages whose deadline had passed.
        duplicate: messages of jobs that are done, given up, or another worker's.
        unreadable: messages that are no job of this version, or name a tool that the worker lacks.
        retried: searches that raised and are tried again.
        returned: messages given back to the queue when the worker stopped.
        lost: searches whose job was given up, or taken by another worker, while they ran.
        started: searches begun.
        search_seconds: their time, all together.
        receive_errors: polls of the queue that failed.
    """

    received: int = 0
    served: int = 0
    failed: int = 0
    expired: int = 0
    duplicate: int = 0
    unreadable: int = 0
    retried: int = 0
    returned: int = 0
    lost: int = 0
    started: int = 0
    search_seconds: float = 0.0
    receive_errors: int = 0


class Counters:
    """Counts, safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts = Counts()
        self.held = 0

    def add(self, name: str, amount: float = 1) -> None:
        """Count one more, or so much more."""
        with self._lock:
            setattr(self._counts, name, getattr(self._counts, name) + amount)

    def values(self) -> dict[str, float]:
        """All of them, by name."""
        with self._lock:
            counted = {each.name: getattr(self._counts, each.name) for each in fields(self._counts)}
        return {**counted, "held": self.held}

    def prometheus(self) -> str:
        """The text format of Prometheus, version 0.0.4."""
        lines = []
        for name, value in self.values().items():
            kind, suffix = ("gauge", "") if name == "held" else ("counter", "_total")
            lines += [f"# TYPE {PREFIX}{name}{suffix} {kind}", f"{PREFIX}{name}{suffix} {value:g}"]
        return "\n".join(lines) + "\n"
