"""The request that is being served here: carried from stage to stage in the context."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field

from langgraph_prefetch.serving.queueing.estimates import Visit


@dataclass(slots=True, kw_only=True, eq=False)
class Request:
    """One request on its way.

    Attributes:
        id: unique in its process.
        arrived_at: time.
        deadline: when it should be through; None for no deadline.
        features: what is known of it.
        speculative: nobody asked for it yet.
        visits: those that have ended.
        waited_seconds: in queues, so far.
    """

    id: str
    arrived_at: float
    deadline: float | None = None
    features: tuple[float, ...] = ()
    speculative: bool = False
    visits: list[Visit] = field(default_factory=list)
    waited_seconds: float = 0.0


current: ContextVar[Request | None] = ContextVar("langgraph_prefetch_request", default=None)
