"""What a worker can be told, checked once."""

from __future__ import annotations

from dataclasses import dataclass

from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.errors import ConfigurationError

MOST_WAIT_SECONDS = 20.0
"""SQS's own limit of a long poll."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettings:
    """How a worker works.

    Attributes:
        concurrency: searches at once.
        prefetch: messages held beyond those, so that the next search begins at once; more are taken when half of
            them are used up. What one worker holds no other can take up; keep it small where searches are slow.
        visibility_seconds: how long a message, and the claim to its job, stay with this worker unless they are
            extended, as they are every third of it while the search runs. After a crash another worker goes on then.
        wait_seconds: of one long poll.
        attempts: how often a search that raises is tried before it counts as failed.
        drain_seconds: how long a worker that was told to stop lets its searches go on. The container's grace period
            must be longer than this, and than ``wait_seconds``: the last poll is waited for.
        most_result_bytes: larger results count as failed.
    """

    concurrency: int = 8
    prefetch: int = 2
    visibility_seconds: float = 30.0
    wait_seconds: float = 10.0
    attempts: int = 2
    drain_seconds: float = 20.0
    most_result_bytes: int = 4 * 1024 * 1024

    def __post_init__(self) -> None:
        require_at_least("concurrency", self.concurrency, 1)
        require_at_least("prefetch", self.prefetch, 0)
        require_at_least("visibility_seconds", self.visibility_seconds, 1)
        require_at_least("wait_seconds", self.wait_seconds, 0)
        if self.wait_seconds > MOST_WAIT_SECONDS:
            raise ConfigurationError(f"wait_seconds is 20 at most, the longest poll of SQS, not {self.wait_seconds!r}")
        require_at_least("attempts", self.attempts, 1)
        require_at_least("drain_seconds", self.drain_seconds, 0)
        require_at_least("most_result_bytes", self.most_result_bytes, 1)
