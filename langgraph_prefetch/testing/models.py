"""Chat models that say what a script tells them: for tests, documentation and demos, without a network or a key."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Annotated, Any, Literal, Self

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import LanguageModelInput
from langchain_core.language_models.chat_models import BaseChatModel, generate_from_stream
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, SkipValidation, model_validator

from langgraph_prefetch.testing.script import (
    Call,
    Script,
    ScriptExhaustedError,
    Turn,
    pieces_of,
    script_by_question,
    turn_number,
    turn_of,
)

__all__ = [
    "Call",
    "ReasoningShape",
    "Script",
    "ScriptExhaustedError",
    "ScriptedChatModel",
    "Turn",
    "UnstreamedScriptedChatModel",
    "pieces_of",
    "script_by_question",
]

ReasoningShape = Literal["text", "reasoning_block", "bedrock", "additional_kwargs", "think_tags"]
"""How thinking is sent: as visible text, in LangChain's ``reasoning`` blocks, in Bedrock's ``reasoning_content``
blocks, in ``additional_kwargs["reasoning_content"]``, or as text between think tags."""


class UnstreamedScriptedChatModel(BaseChatModel):
    """A scripted model that cannot stream at all: it has no ``_stream``.

    Attributes:
        script: turns, chosen by how many messages the model has said; or a function from the conversation to a turn.
        reasoning_as: the shape in which thinking is sent.
        seconds_to_first_token: silence before the first piece.
        seconds_per_token: silence before each further piece. A whole message takes as long as a streamed one.
        argument_pieces: into how many fragments the JSON of a call's arguments is cut.
    """

    script: Annotated[Script, SkipValidation]
    reasoning_as: ReasoningShape = "text"
    seconds_to_first_token: float = Field(default=0.0, ge=0)
    seconds_per_token: float = Field(default=0.0, ge=0)
    argument_pieces: int = Field(default=3, ge=1)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model": "scripted", "reasoning_as": self.reasoning_as}

    def bind_tools(
        self, tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool], **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The same model; the tools are written into the call's settings as a provider's client would."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        turn = turn_of(self.script, messages)
        chunks = self._chunks(turn, turn_number(messages))
        time.sleep(sum(self._silence(place) for place in range(len(chunks) - 1)))
        return _whole(turn, chunks)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        turn = turn_of(self.script, messages)
        chunks = self._chunks(turn, turn_number(messages))
        await asyncio.sleep(sum(self._silence(place) for place in range(len(chunks) - 1)))
        return _whole(turn, chunks)

    def _silence(self, place: int) -> float:
        return self.seconds_per_token if place else self.seconds_to_first_token

    def _chunks(self, turn: Turn, number: int) -> list[ChatGenerationChunk]:
        """The whole message, piece by piece, and an empty last piece with what providers send at the end."""
        messages = [*self._prose(turn), *self._calls(turn, number)]
        empty: Any = [] if self.reasoning_as in ("reasoning_block", "bedrock") else ""
        last = AIMessageChunk(
            content=empty,
            chunk_position="last",
            response_metadata={"model_name": "scripted", "finish_reason": "tool_calls" if turn.calls else "stop"},
            usage_metadata={"input_tokens": 0, "output_tokens": len(messages), "total_tokens": len(messages)},
        )
        return [ChatGenerationChunk(message=message) for message in (*messages, last)]

    def _prose(self, turn: Turn) -> Iterator[AIMessageChunk]:
        reasoning, text = pieces_of(turn.reasoning), pieces_of(turn.text)
        match self.reasoning_as:
            case "text":
                yield from (AIMessageChunk(content=piece) for piece in (*reasoning, *text))
            case "think_tags":
                thought = ("<think>", *reasoning, "</think>") if reasoning else ()
                yield from (AIMessageChunk(content=piece) for piece in (*thought, *text))
            case "additional_kwargs":
                for piece in reasoning:
                    yield AIMessageChunk(content="", additional_kwargs={"reasoning_content": piece})
                yield from (AIMessageChunk(content=piece) for piece in text)
            case "reasoning_block":
                for piece in reasoning:
                    yield AIMessageChunk(content=[{"type": "reasoning", "reasoning": piece, "index": 0}])
                yield from (_text_block(piece) for piece in text)
            case "bedrock":
                for piece in reasoning:
                    block = {"type": "reasoning_content", "reasoning_content": {"text": piece}, "index": 0}
                    yield AIMessageChunk(content=[block])
                yield from (_text_block(piece) for piece in text)

    def _calls(self, turn: Turn, number: int) -> Iterator[AIMessageChunk]:
        blocks = self.reasoning_as in ("reasoning_block", "bedrock")
        for place, each in enumerate(turn.calls):
            call = Call.of(each)
            # Where content is a list of blocks, a call has its place in that list.
            index = place + 2 if blocks else place
            empty: Any = [] if blocks else ""
            parts: list[tuple[str | None, str | None, str]] = [(call.name, call.id or f"call_{number + 1}_{place}", "")]
            parts.extend((None, None, fragment) for fragment in call.fragments(self.argument_pieces))
            for name, call_id, fragment in parts:
                chunk = tool_call_chunk(name=name, args=fragment, id=call_id, index=index)
                yield AIMessageChunk(content=empty, tool_call_chunks=[chunk])


class ScriptedChatModel(UnstreamedScriptedChatModel):
    """A scripted model that streams, in threads and in event loops alike. Its whole and streamed messages are equal.

    Pieces come at fixed moments from the start of the call, as from a server.

    Attributes:
        streams: False makes it answer in whole messages, whatever is asked (``disable_streaming`` of LangChain).
        calls_run_manager: tell the run manager handed to ``_stream`` of each piece; some providers' clients never do.
    """

    streams: bool = True
    calls_run_manager: bool = True

    @model_validator(mode="after")
    def _may_stream(self) -> Self:
        if not self.streams:
            self.disable_streaming = True
        return self

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        turn, pace = turn_of(self.script, messages), _Pace()
        for place, chunk in enumerate(self._chunks(turn, turn_number(messages))):
            if not _is_last(chunk):
                time.sleep(pace.until_after(self._silence(place)))
            elif turn.error is not None:
                raise turn.error
            if run_manager is not None and self.calls_run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        turn, pace = turn_of(self.script, messages), _Pace()
        for place, chunk in enumerate(self._chunks(turn, turn_number(messages))):
            if not _is_last(chunk):
                await asyncio.sleep(pace.until_after(self._silence(place)))
            elif turn.error is not None:
                raise turn.error
            if run_manager is not None and self.calls_run_manager:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk


class _Pace:
    """Pieces come at fixed moments, as from a server: what a listener takes for one does not put off the next."""

    def __init__(self) -> None:
        self._due = time.monotonic()

    def until_after(self, silence: float) -> float:
        """Seconds until the next piece, which comes ``silence`` after the one before; 0 if it is there already."""
        self._due += silence
        return max(0.0, self._due - time.monotonic())


def _text_block(piece: str) -> AIMessageChunk:
    return AIMessageChunk(content=[{"type": "text", "text": piece, "index": 1}])


def _is_last(chunk: ChatGenerationChunk) -> bool:
    return isinstance(chunk.message, AIMessageChunk) and chunk.message.chunk_position == "last"


def _whole(turn: Turn, chunks: Sequence[ChatGenerationChunk]) -> ChatResult:
    if turn.error is not None:
        raise turn.error
    return generate_from_stream(iter(chunks))
