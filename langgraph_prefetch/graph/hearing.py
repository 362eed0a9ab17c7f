"""One model call as its listener hears it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from langchain_core.messages import AIMessage

from langgraph_prefetch.graph.caller import GraphCaller
from langgraph_prefetch.graph.streaming_models import undo_partial_calls
from langgraph_prefetch.prefetcher import Run
from langgraph_prefetch.values import Delta, ToolCallDelta


class Hearing:
    """What has been heard of one model call.

    Args:
        run: the run it belongs to.
        forced: True if the model streams only because we made it; then its message is brought back to the plain one's.
        loop: the event loop the agent runs on, if any.

    Attributes:
        caller: tells, in the model's own context, whose configuration a search would see.
    """

    __slots__ = ("_arguments", "_call_ids", "_kind", "caller", "forced", "run")

    def __init__(self, run: Run, *, forced: bool, loop: asyncio.AbstractEventLoop | None) -> None:
        self.run, self.forced = run, forced
        self.caller = partial(GraphCaller.ambient, loop)
        self._kind: str | None = None
        self._call_ids: dict[Any, str] = {}
        self._arguments: dict[str, str] = {}

    def takes(self, kind: str) -> bool:
        """Under v3 some models are heard twice, as chunks and as events: the first kind seen counts."""
        if self._kind is None:
            self._kind = kind
        return self._kind == kind

    def note(self, deltas: Iterable[Delta]) -> None:
        """Keep the raw arguments of a forced stream: joined chunks hide that a call was cut off."""
        for delta in deltas:
            if isinstance(delta, ToolCallDelta):
                call_id = delta.call_id or self._call_ids.get(delta.index)
                if call_id is not None:
                    self._call_ids[delta.index] = call_id
                    self._arguments[call_id] = self._arguments.get(call_id, "") + delta.arguments

    def restore(self, response: Any) -> None:
        """Make calls that were cut off invalid again, as they are where the model does not stream."""
        if not self._arguments:
            return
        for generations in response.generations:
            message = getattr(generations[0], "message", None) if generations else None
            if isinstance(message, AIMessage):
                undo_partial_calls(message, self._arguments)


def streams_anyway(
    handlers: Iterable[Any], serialized: Mapping[str, Any] | None, invocation: Mapping[str, Any]
) -> bool:
    """True if the model would stream without us: another handler asks for it, or its own settings do."""
    settings = {**((serialized or {}).get("kwargs") or {}), **invocation}
    return any(settings.get(name) is True for name in ("stream", "streaming")) or any(
        hasattr(handler, "tap_output_iter") for handler in handlers
    )
