"""Nodes and GPUs of a simulated cluster."""

from __future__ import annotations

from collections.abc import Generator

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


class Memory:
    """Room for caches, in tokens: whoever finds none waits, first come first served."""

    def __init__(self, tokens: float, env: simpy.Environment) -> None:
        self.capacity = tokens
        self._env, self._room = env, simpy.Container(env, capacity=tokens, init=tokens)
        self._area = self._since = self._held = 0.0

    def fitting(self, tokens: float) -> float:
        """So many tokens, or as many as there is room for at all."""
        return min(tokens, self.capacity)

    def take(self, tokens: float) -> Generator[simpy.Event, None, None]:
        """Wait until there is room."""
        yield self._room.get(tokens)
        self._count(tokens)

    def give_back(self, tokens: float) -> None:
        """It is free again."""
        self._count(-tokens)
        self._room.put(tokens)

    def used(self, seconds: float) -> float:
        """Share of it, on average over so many seconds."""
        return self._area / seconds / self.capacity

    def _count(self, tokens: float) -> None:
        now = float(self._env.now)
        self._area += self._held * (now - self._since)
        self._held, self._since = self._held + tokens, now


class PrefillGpu:
    """A GPU that prefills one request after the other."""

    def __init__(self, name: str, node: Node, handle_rate: float, memory: Memory) -> None:
        self.name, self.node, self.handle_rate, self.memory = name, node, handle_rate, memory
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

    def __init__(self, name: str, node: Node, memory: Memory) -> None:
        self.name, self.node, self.memory = name, node, memory
        self.line = Line()
        self.unfinished = 0.0
