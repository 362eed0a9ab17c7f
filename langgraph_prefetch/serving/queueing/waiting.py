"""A request on its way through a flow, as a queue's policy sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A request that waits at a stage. Times are those of the clock that is passed in.

    Attributes:
        request_id: unique.
        stage: where it waits.
        arrived_at: in the flow.
        queued_at: at this stage.
        deadline: when it should have left the flow; None for no deadline.
        remaining_seconds: predicted from here to the end of the flow, waiting not included.
        likely_seconds: what half of the requests like it need at most from here on; None: ``remaining_seconds``. It
            says whether a deadline can still be kept.
        service_seconds: predicted for this visit.
        visits: stages it has been through.
        speculative: started before anybody asked for it; always after demand.
    """

    request_id: str
    stage: str
    arrived_at: float
    queued_at: float
    deadline: float | None = None
    remaining_seconds: float = 0.0
    likely_seconds: float | None = None
    service_seconds: float = 0.0
    visits: int = 0
    speculative: bool = False

    def hopeless(self, now: float) -> bool:
        """It will more likely be late than not, even if it never waits again."""
        needed = self.remaining_seconds if self.likely_seconds is None else self.likely_seconds
        return self.deadline is not None and self.deadline - now < needed


class QueuePolicy(Protocol):
    """Which of the waiting requests a stage serves next. Pure: the same arguments give the same choice."""

    @property
    def name(self) -> str:
        """As tables show it."""
        ...

    def choose(self, waiting: Sequence[Waiting], now: float) -> int:
        """The place of the next one in ``waiting``, which is not empty and in the order of ``queued_at``."""
        ...
