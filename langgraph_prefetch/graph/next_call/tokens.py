"""How many tokens a model call that nobody used has cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.messages.utils import count_tokens_approximately

from langgraph_prefetch.intent.stream import deltas_of_chunk, deltas_of_event
from langgraph_prefetch.values import ToolCallDelta

CHARS_PER_TOKEN = 4.0
"""As LangChain's own estimate."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens read and written."""

    read: int = 0
    written: int = 0


def tokens_read(messages: Sequence[BaseMessage], settings: Any) -> int:
    """An estimate of what a request is long, tools included."""
    tools = settings.get("tools") if isinstance(settings, dict) else None
    plain: list[Any] | None = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else None
    return count_tokens_approximately(messages, tools=plain or None)


def tokens_of(messages: Sequence[BaseMessage], settings: Any, given: Iterable[Any]) -> Tokens:
    """What the call cost: as the provider counted it if it came so far as to say, else an estimate."""
    told_read = told_written = characters = 0
    for each in given:
        message = _message(each)
        usage = (
            getattr(message, "usage_metadata", None) or (each.get("usage") if isinstance(each, dict) else None) or {}
        )
        told_read += usage.get("input_tokens") or 0
        told_written += usage.get("output_tokens") or 0
        characters += _characters(each, message)
    estimated = round(characters / CHARS_PER_TOKEN)
    return Tokens(told_read or tokens_read(messages, settings), max(told_written, estimated))


def _message(given: Any) -> BaseMessage | None:
    generations = getattr(given, "generations", None)
    found = getattr(generations[0] if generations else given, "message", None)
    return found if isinstance(found, BaseMessage) else None


def _characters(given: Any, message: BaseMessage | None) -> int:
    deltas: Iterable[Any] = ()
    if message is not None and hasattr(message, "tool_call_chunks"):
        deltas = deltas_of_chunk(message)
    elif message is not None:
        return len(str(message.text)) + sum(len(str(call["args"])) for call in getattr(message, "tool_calls", ()))
    elif isinstance(given, dict):
        deltas = deltas_of_event(given)
    return sum(len(each.arguments if isinstance(each, ToolCallDelta) else each.text) for each in deltas)
