"""Nodes and GPUs of a simulated cluster."""

from __future__ import annotations

from langgraph_prefetch.errors import MissingExtraError
from langgraph_prefetch.serving.disaggregated.choice import PathLoad
from langgraph_prefetch.serving.disaggregated.hardware import NodeKind, ServedModel

try:
    import simpy
except ImportError as error:
    raise MissingExtraError(error.name or "simpy", "serving") from error


class Line:
    """One thing after the other, first come first served: when each ends follows from when the one before does."""

    __slots__ = ("busy", "free_at")

    def __init__(self) -> None:
        self.free_at = self.busy = 0.0

    def pass_through(self, now: float, seconds: float) -> tuple[float, float]:
        """Join; returns when it starts and when it is done."""
        started = max(now, self.free_at)
        self.free_at = started + seconds
        self.busy += seconds
        return started, self.free_at


class Node:
    """A node with its storage NIC."""

    def __init__(self, name: str, kind: NodeKind, model: ServedModel) -> None:
        self.name, self.kind = name, kind
        self.storage = Line()
        self.queued = 0.0
        self.read_rate = kind.storage_nic / model.cache_bytes_per_token
        self.reads: list[tuple[float, float, float]] = []


class PrefillGpu:
    """A GPU that prefills one request after the other."""

    def __init__(self, name: str, node: Node, handle_rate: float) -> None:
        self.name, self.node, self.handle_rate = name, node, handle_rate
        self.line = Line()
        self.unfinished = self.computing = 0.0

    @property
    def load(self) -> PathLoad:
        """As the scheduler sees it."""
        return PathLoad(
            name=self.name,
            read_queue=self.node.queued,
            unfinished=self.unfinished,
            read_rate=self.node.read_rate,
            handle_rate=self.handle_rate,
        )


class DecodeGpu:
    """A GPU that decodes as many requests at once as its memory holds."""

    def __init__(self, name: str, node: Node, tokens: float, env: simpy.Environment) -> None:
        self.name, self.node = name, node
        self.line = Line()
        self.memory = simpy.Container(env, capacity=tokens, init=tokens)
        self.unfinished = 0.0
        self._held = self._since = self._area = 0.0

    def hold(self, tokens: float, now: float) -> None:
        """A request begins to decode."""
        self._area += self._held * (now - self._since)
        self._held, self._since = self._held + tokens, now

    def release(self, tokens: float, now: float) -> None:
        """It ends."""
        self.hold(-tokens, now)

    def used(self, seconds: float) -> float:
        """Share of its memory, on average over so many seconds."""
        return self._area / seconds / float(self.memory.capacity)
