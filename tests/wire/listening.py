"""Handlers: one that only watches, and one that makes models stream the way the package's own does."""

from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult

from langgraph_prefetch.graph.streaming_models import undo_partial_calls


class Listener(BaseCallbackHandler):
    """Has the tap methods, without inheriting LangChain's private class, so models stream.

    With ``undo`` it takes back, at the end of each stream, the calls whose arguments never closed.
    """

    run_inline = True

    def __init__(self, *, undo: bool = True) -> None:
        self.undo = undo
        self.heard = 0
        # Per model run: two runs may use the same call ids.
        self._ids: dict[UUID, dict[Any, str]] = {}
        self._arguments: dict[UUID, dict[str, str]] = {}

    def tap_output_iter(self, run_id: UUID, output: Iterator[Any]) -> Iterator[Any]:
        return output

    def tap_output_aiter(self, run_id: UUID, output: AsyncIterator[Any]) -> AsyncIterator[Any]:
        return output

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: UUID, **_: Any) -> None:
        self.heard += 1
        assert isinstance(chunk, ChatGenerationChunk)
        assert isinstance(chunk.message, AIMessageChunk)
        ids = self._ids.setdefault(run_id, {})
        arguments = self._arguments.setdefault(run_id, {})
        for piece in chunk.message.tool_call_chunks:
            call_id = ids.setdefault(piece["index"], piece["id"] or "")
            arguments[call_id] = arguments.get(call_id, "") + (piece["args"] or "")

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        arguments = self._arguments.pop(run_id, {})
        generation = response.generations[0][0]
        if self.undo and isinstance(generation, ChatGeneration) and isinstance(generation.message, AIMessage):
            undo_partial_calls(generation.message, arguments)


class Halted(Exception):
    """The model call ends before any request."""


class Halt(BaseCallbackHandler):
    """Keeps what ``on_chat_model_start`` is given and stops the call there: nothing reaches the network."""

    run_inline = True
    raise_error = True

    def __init__(self) -> None:
        self.serialized: dict[str, Any] = {}
        self.invocation: dict[str, Any] = {}

    def on_chat_model_start(self, serialized: dict[str, Any], messages: Any, **kwargs: Any) -> None:
        self.serialized, self.invocation = serialized, kwargs["invocation_params"]
        raise Halted
