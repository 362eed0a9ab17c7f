"""One real call of an owned model: answered from its private call where there is one, else made."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import UUID

from langgraph_prefetch.events import NextCallFate
from langgraph_prefetch.graph.guard import Guard
from langgraph_prefetch.graph.next_call.ahead import Pending, RunAhead
from langgraph_prefetch.graph.next_call.made import Made
from langgraph_prefetch.graph.next_call.pieces import Given, Piece, Raised, Said, Told
from langgraph_prefetch.graph.next_call.private import TaskCall, ThreadCall
from langgraph_prefetch.graph.said import asay_again, say_again
from langgraph_prefetch.intent.stream import deltas_of_event
from langgraph_prefetch.values import ToolCallDelta


class Visit:
    """One real call.

    Args:
        ahead: its run's.
        made: what is asked.
        adopted: the private call of the very same request, if there is one.

    Attributes:
        is_answered: the private call has given all; otherwise the call must be made.
    """

    def __init__(self, ahead: RunAhead, made: Made, adopted: Pending | None) -> None:
        self._ahead, self._made, self._adopted = ahead, made, adopted
        self._began = self.is_answered = False

    def hear(self, given: Any) -> None:
        """The model gives this: note which tool calls it makes."""
        with Guard(self._ahead.calls.engine, "next call"):
            if call_ids := call_ids_in(given):
                self._ahead.made_calls(call_ids, self._made)

    def replayed(self, run_manager: Any) -> Iterator[Any]:
        """What the private call gave and gives, its words to the run manager said again in their place."""
        if self._adopted is None or not isinstance(self._adopted.private, ThreadCall):
            return
        private = self._adopted.private
        try:
            for piece in private.pieces():
                if self._fell_through(piece):
                    return
                self._hand_over()
                match piece:
                    case Given(value):
                        yield self._renamed(value, run_manager)
                    case Told(method, args, kwargs):
                        getattr(run_manager, method)(*args, **kwargs)
                    case Said(what):
                        say_again([what])
                    case Raised(error):
                        raise error
            self._hand_over()  # a stream may end without a word
            self.is_answered = True
        finally:
            private.cancel()

    async def areplayed(self, run_manager: Any) -> AsyncIterator[Any]:
        """:meth:`replayed` for coroutines."""
        if self._adopted is None or not isinstance(self._adopted.private, TaskCall):
            return
        private = self._adopted.private
        try:
            async for piece in private.pieces():
                if self._fell_through(piece):
                    return
                self._hand_over()
                match piece:
                    case Given(value):
                        yield self._renamed(value, run_manager)
                    case Told(method, args, kwargs):
                        await getattr(run_manager, method)(*args, **kwargs)
                    case Said(what):
                        await asay_again([what])
                    case Raised(error):
                        raise error
            self._hand_over()  # a stream may end without a word
            self.is_answered = True
        finally:
            private.cancel()

    def _fell_through(self, piece: Piece) -> bool:
        """It failed before it gave anything (a rate limit, say): the call is made as usual."""
        if self._began or not isinstance(piece, Raised) or self._adopted is None:
            return False
        with Guard(self._ahead.calls.engine, "next call"):
            self._ahead.settle(self._adopted, NextCallFate.FAILED)
        return True

    def _hand_over(self) -> None:
        if self._began or self._adopted is None:
            return
        self._began = True
        with Guard(self._ahead.calls.engine, "next call"):
            self._ahead.handed_over(self._adopted)

    def _renamed(self, value: Any, run_manager: Any) -> Any:
        """Some models name their messages after the run: after the real one, then."""
        message, private_id = getattr(value, "message", None), self._adopted and self._adopted.run_id
        real_id: UUID | None = getattr(run_manager, "run_id", None)
        named = getattr(message, "id", None)
        if message is not None and real_id is not None and isinstance(named, str) and str(private_id) in named:
            message.id = named.replace(str(private_id), str(real_id))
        return value


def call_ids_in(given: Any) -> list[str]:
    """The ids of tool calls that begin in a chunk, an event or a whole result."""
    if isinstance(given, dict):
        deltas = [each for each in deltas_of_event(given) if isinstance(each, ToolCallDelta)]
        return [each.call_id for each in deltas if each.call_id]
    generations = getattr(given, "generations", None) or [given]
    found: list[str] = []
    for each in generations:
        message = getattr(each, "message", None)
        calls = getattr(message, "tool_call_chunks", None) or getattr(message, "tool_calls", None) or ()
        found.extend(str(call["id"]) for call in calls if call.get("id"))
    return found
