"""The contract a wire dialect fulfils: pure translation between HTTP bodies and scripted turns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from langgraph_prefetch.testing.wire.script import Request, Turn


class Problem(Enum):
    """What can go wrong on purpose; a dialect words it as its provider does."""

    THROTTLED = auto()
    NO_STREAMING = auto()
    BAD_REQUEST = auto()
    OVERLOADED = auto()


@dataclass(frozen=True, slots=True)
class Frame:
    """Bytes sent as one HTTP chunk; ``is_token`` marks a model token (a pause goes before it)."""

    data: bytes
    is_token: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole HTTP answer."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict, hash=False)


# Both SDKs would otherwise sleep for half a second before their first retry.
RETRY_SOON: Mapping[str, str] = {"retry-after-ms": "1"}


class Dialect(ABC):
    """One provider's way to say a turn, whole and streamed. No I/O, no clock, no state."""

    stream_headers: Mapping[str, str]

    @abstractmethod
    def read(self, path: str, body: Mapping[str, Any]) -> Request | None:
        """The request behind a POST of ``body`` to the (unquoted) ``path``; ``None``: no such route."""

    @abstractmethod
    def whole(self, turn: Turn, request: Request) -> Reply:
        """The answer to a request that does not stream."""

    @abstractmethod
    def frames(self, turn: Turn, request: Request) -> Iterator[Frame]:
        """The same answer as a stream; exactly ``turn.tokens`` frames are tokens."""

    @abstractmethod
    def problem(self, problem: Problem, message: str) -> Reply:
        """The provider's HTTP error for ``problem``."""

    @abstractmethod
    def error_event(self, message: str) -> Frame:
        """The provider's error in the middle of a stream."""
