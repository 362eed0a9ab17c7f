"""How many connections there may be, and how long a caller waits for one."""

from __future__ import annotations

from dataclasses import dataclass, field

from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.errors import ConfigurationError


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolLimits:
    """The pool of one database in one process.

    Attributes:
        connections: most of them, in use and idle together.
        reserve: how many of them speculation leaves to real calls; None: a quarter, at least one where there are two.
        wait_seconds: how long a call waits for a connection; then a real one raises, a speculation is rejected.
        waiting: most real calls that wait at the same time.
        speculations_waiting: most speculations that wait at the same time.
        connect_seconds: how long opening a connection may take.
        recycle_seconds: a connection older than this is replaced before its next use.
        cancel_seconds: how long a cancelled call waits for its query to end.
        for_speculation: how many connections speculations may use at the same time; not set, but computed.
    """

    connections: int = 8
    reserve: int | None = None
    wait_seconds: float = 10.0
    waiting: int = 1_024
    speculations_waiting: int = 64
    connect_seconds: float = 10.0
    recycle_seconds: float = 1_800.0
    cancel_seconds: float = 5.0
    for_speculation: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, least in (("connections", 1), ("waiting", 0), ("speculations_waiting", 0)):
            require_at_least(name, getattr(self, name), least)
        for name in ("wait_seconds", "connect_seconds", "recycle_seconds", "cancel_seconds"):
            require_at_least(name, getattr(self, name), 0.001)
        if self.reserve is not None:
            require_at_least("reserve", self.reserve, 0)
            if self.reserve > self.connections:
                raise ConfigurationError(
                    f"reserve must be at most connections ({self.connections}), not {self.reserve}"
                )
        kept = min(self.connections - 1, max(1, self.connections // 4)) if self.reserve is None else self.reserve
        object.__setattr__(self, "for_speculation", self.connections - kept)
