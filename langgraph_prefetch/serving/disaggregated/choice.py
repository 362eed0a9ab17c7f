"""Which path reads, and which engine takes a request: pure, on frozen values.

The rules are those of arXiv 2602.21548, section 6.1, with its profiled thresholds in seconds (appendix A.4), so that
they hold for paths of different speed. What tokens are to a cache bytes are to a blob: any unit does, if it is the same
throughout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite

from langgraph_prefetch.errors import ConfigurationError


@dataclass(frozen=True, slots=True, kw_only=True)
class PathLoad:
    """How busy a path or engine is. Queues in tokens, or in any other unit, rates in that unit a second.

    Attributes:
        name: unique among those that are compared.
        read_queue: what waits to be read from storage on its node.
        unfinished: of all requests that it has and has not finished.
        read_rate: what its storage link reads a second.
        handle_rate: what its GPU handles a second; without a GPU there is no limit.
    """

    name: str
    read_queue: float = 0.0
    unfinished: float = 0.0
    read_rate: float = 1.0
    handle_rate: float = inf

    def __post_init__(self) -> None:
        if not (0 <= self.read_queue < inf and 0 <= self.unfinished < inf):
            raise ConfigurationError(f"path {self.name!r}: queues start at 0, and end somewhere")
        if not (isfinite(self.read_rate) and self.read_rate > 0 and self.handle_rate > 0):
            raise ConfigurationError(f"path {self.name!r}: rates must be above 0, and read_rate finite")

    @property
    def read_seconds(self) -> float:
        """Until everything that waits is read."""
        return self.read_queue / self.read_rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Gates:
    """Which are taken at all, and which are taken first.

    Attributes:
        short_seconds: a read queue of at most so many seconds is short (``α``).
        overload_seconds: whoever has more work than it handles in so many seconds gets no more (``β``).
    """

    short_seconds: float = 3.0
    overload_seconds: float = 5.0

    def __post_init__(self) -> None:
        if not (self.short_seconds >= 0 and self.overload_seconds > 0):
            raise ConfigurationError("short_seconds must be 0 or more, overload_seconds above 0")

    def overloaded(self, path: PathLoad) -> bool:
        """It gets nothing more for now."""
        return path.unfinished > self.overload_seconds * path.handle_rate

    def short(self, path: PathLoad) -> bool:
        """Its link would soon have nothing to read."""
        return path.read_queue <= self.short_seconds * path.read_rate


GATES = Gates()


def choose_path(paths: Sequence[PathLoad], gates: Gates = GATES) -> PathLoad | None:
    """The path to read over: the shortest read queue in seconds, then the fewest tokens, then the first.

    Overloaded ones are never taken. None: all are; wait.
    """
    return min(_candidates(paths, gates), key=lambda path: (path.read_seconds, path.unfinished), default=None)


def choose_engine(engines: Sequence[PathLoad], gates: Gates = GATES) -> PathLoad | None:
    """The engine to work on: one with a short read queue if there is any, of these the one with the fewest tokens.

    Overloaded ones are never taken. None: all are; wait.
    """
    return min(_candidates(engines, gates), key=lambda each: (each.unfinished, each.read_seconds), default=None)


def _candidates(paths: Sequence[PathLoad], gates: Gates) -> Sequence[PathLoad]:
    open_ones = [path for path in paths if not gates.overloaded(path)]
    return [path for path in open_ones if gates.short(path)] or open_ones
