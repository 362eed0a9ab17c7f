"""The chunks of one model message, without what some streams send twice."""

from __future__ import annotations

import zlib
from typing import Any

from langgraph_prefetch.intent.stream import deltas_of_chunk
from langgraph_prefetch.values import Delta, ReasoningDelta, TextDelta

_LEAST_CHARS = 16


class ChunkReader:
    """Deltas of the chunks of one message, each text once.

    LangGraph's ``messages`` mode can deliver the tokens and then the whole message again. A whole message after
    chunks is dropped, and so is a chunk which repeats all text (or all reasoning) streamed so far. Only a length and
    a checksum of the text are kept. Texts under 16 characters are never taken for repeats: "ha", "ha" is a laugh.
    """

    __slots__ = ("_streamed", "_sums")

    def __init__(self) -> None:
        self._streamed = False
        self._sums: dict[type[Delta], tuple[int, int]] = {}

    def read(self, message: Any) -> tuple[Delta, ...]:
        """New deltas of a chunk or of a whole message."""
        is_chunk = getattr(message, "tool_call_chunks", None) is not None
        if not is_chunk and self._streamed:
            return ()
        deltas = tuple(delta for delta in deltas_of_chunk(message) if not self._repeats(delta))
        self._streamed = self._streamed or bool(deltas)
        return deltas

    def _repeats(self, delta: Delta) -> bool:
        if not isinstance(delta, TextDelta | ReasoningDelta):
            return False
        length, checksum = self._sums.get(type(delta), (0, 0))
        text = delta.text
        data = text.encode("utf-8", "surrogatepass")
        if len(text) == length >= _LEAST_CHARS and zlib.crc32(data) == checksum:
            return True
        self._sums[type(delta)] = (length + len(text), zlib.crc32(data, checksum))
        return False
