"""Asks an agent one question, and keeps what was said and when."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables import Runnable

from langgraph_prefetch.errors import ConfigurationError

SCOPE = "evaluation_scope"
"""The name under ``configurable`` of the scope within which an arm may keep results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One run of an agent.

    Attributes:
        messages: those of this run, from the question on.
        seconds: from the question to the last token.
        first_token_seconds: by message id, from the question to the first token of its text.
        call_seconds: by the id of the tool call, from the call to its result.
    """

    messages: tuple[BaseMessage, ...]
    seconds: float
    first_token_seconds: Mapping[str, float] = field(default_factory=dict)
    call_seconds: Mapping[str, float] = field(default_factory=dict)


async def ask(agent: Runnable[Any, Any], question: str, configurable: Mapping[str, Any]) -> Heard:
    """Ask, streaming, as an application would that shows its user what is going on.

    Raises:
        ConfigurationError: the agent's state has no messages.
        Exception: what the agent raises.
    """
    calls = CallTimes()
    first: dict[str, float] = {}
    state: Any = None
    config: Any = {"configurable": dict(configurable), "callbacks": [calls]}
    began = time.perf_counter()
    stream: Any = agent.astream({"messages": [HumanMessage(question)]}, config, stream_mode=["messages", "values"])
    async with aclosing(stream) as parts:
        async for mode, part in parts:
            if mode == "values":
                state = part
            elif isinstance(part[0], AIMessageChunk) and part[0].id and part[0].text:
                first.setdefault(part[0].id, time.perf_counter() - began)
    seconds = time.perf_counter() - began
    messages = state.get("messages") if isinstance(state, Mapping) else None
    if not isinstance(messages, Sequence) or not messages:
        raise ConfigurationError("the agent's state has no 'messages': an evaluation needs an agent that keeps them")
    return Heard(
        messages=_of_this_run(messages), seconds=seconds, first_token_seconds=first, call_seconds=calls.seconds
    )


def _of_this_run(messages: Sequence[BaseMessage]) -> tuple[BaseMessage, ...]:
    asked = max((place for place, each in enumerate(messages) if isinstance(each, HumanMessage)), default=0)
    return tuple(messages[asked:])


class CallTimes(AsyncCallbackHandler):
    """Times tool calls, in the same way for every arm.

    Attributes:
        seconds: by the id of the tool call.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._began: dict[UUID, float] = {}

    async def on_tool_start(self, serialized: dict[str, Any], input_str: str, *, run_id: UUID, **kwargs: Any) -> None:
        """A tool begins, or an answer that stands for it."""
        self._began[run_id] = time.perf_counter()

    async def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Its result is there."""
        began = self._began.pop(run_id, None)
        if began is not None and isinstance(output, ToolMessage):
            self.seconds[output.tool_call_id] = time.perf_counter() - began
