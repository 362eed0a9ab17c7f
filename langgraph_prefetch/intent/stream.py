"""LangChain message chunks and protocol events -> deltas.

Text, reasoning and tool arguments are told apart here, once, so that no later step parses a provider's shape again.
Messages are duck-typed: nothing of LangChain is imported, and ``content_blocks`` is never used (it costs 7 us a chunk).
Nothing in this module raises on an unknown shape: what it does not know, it leaves out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from langgraph_prefetch.values import Delta, ReasoningDelta, TextDelta, ToolCallDelta

_NOTHING: tuple[Delta, ...] = ()


def deltas_of_chunk(message: Any) -> tuple[Delta, ...]:
    """Deltas of one ``AIMessageChunk``, or of a whole ``AIMessage``, in the order reasoning, text, tool calls.

    Reads string content, lists of content blocks, ``additional_kwargs["reasoning_content"]`` / ``["reasoning"]`` and
    ``tool_call_chunks`` (``tool_calls`` where there are none). Signatures and redacted bytes are not read.
    """
    content = getattr(message, "content", None)
    extra = getattr(message, "additional_kwargs", None)
    chunks = getattr(message, "tool_call_chunks", None)
    if type(content) is str and not extra and not chunks and chunks is not None:
        return (TextDelta(content),) if content else _NOTHING
    deltas: list[Delta] = []
    if isinstance(extra, Mapping):
        reasoning = _reasoning_text(extra.get("reasoning_content")) or _reasoning_text(extra.get("reasoning"))
        if reasoning:
            deltas.append(ReasoningDelta(reasoning))
    if isinstance(content, str):
        if content:
            deltas.append(TextDelta(content))
    elif isinstance(content, list):
        deltas.extend(_deltas_of_blocks(content))
    if chunks:
        deltas.extend(_tool_call_deltas(chunks))
    elif chunks is None:
        deltas.extend(_whole_calls(getattr(message, "tool_calls", None)))
    return tuple(deltas)


def deltas_of_event(event: Any) -> tuple[Delta, ...]:
    """Deltas of one event of LangChain's streaming protocol v3, as given to ``on_stream_event``.

    Text and reasoning are taken from ``content-block-delta`` alone, because starts are empty placeholders and finishes
    repeat the whole block. A finish is read for tool calls only: providers that do not stream arguments send the call
    there, and for the others a call that is already sealed stays sealed.
    """
    if not isinstance(event, Mapping):
        return _NOTHING
    kind = event.get("event")
    if kind == "content-block-delta":
        return _deltas_of_event_delta(event.get("index"), event.get("delta"))
    if kind not in ("content-block-start", "content-block-finish"):
        return _NOTHING
    block = event.get("content")
    if not isinstance(block, Mapping):
        return _NOTHING
    if kind == "content-block-start" and block.get("type") == "tool_call_chunk":
        return (_tool_call_delta(event.get("index"), block),)
    if kind == "content-block-finish" and block.get("type") == "tool_call":
        return tuple(_whole_calls([{**block, "index": event.get("index")}]))
    return _NOTHING


def _deltas_of_event_delta(index: Any, delta: Any) -> tuple[Delta, ...]:
    if not isinstance(delta, Mapping):
        return _NOTHING
    match delta.get("type"), delta:
        case "text-delta", {"text": str(text)} if text:
            return (TextDelta(text),)
        case "reasoning-delta", {"reasoning": str(text)} if text:
            return (ReasoningDelta(text),)
        case "tool-call-delta", {"args": str(arguments)} if arguments:
            return (ToolCallDelta(index=_index(index), arguments=arguments),)
    return _NOTHING


def _deltas_of_blocks(blocks: Iterable[Any]) -> list[Delta]:
    deltas: list[Delta] = []
    for block in blocks:
        if isinstance(block, str):
            if block:
                deltas.append(TextDelta(block))
        elif isinstance(block, Mapping):
            if block.get("type") == "text":
                text = block.get("text")
                if isinstance(text, str) and text:
                    deltas.append(TextDelta(text))
            else:
                reasoning = _reasoning_text(block)
                if reasoning:
                    deltas.append(ReasoningDelta(reasoning))
    return deltas


def _reasoning_text(value: Any) -> str:
    """The thinking text of a reasoning block in any of its spellings; empty for every other block."""
    if isinstance(value, str):
        return value
    match value:
        case {"type": "thinking", "thinking": str(text)}:  # Anthropic
            return text
        case {"type": "reasoning_content", "reasoning_content": inner}:  # Bedrock Converse
            return _text_field(inner)
        case {"type": "non_standard", "value": Mapping() as inner} if inner.get("type") != "non_standard":
            return _reasoning_text(inner)
        case {"type": "reasoning", "reasoning": str(text)}:  # LangChain v1
            return text
        case {"summary": list(parts)}:  # OpenAI Responses
            return "".join(_text_field(part) for part in parts)
        case {"type": "reasoning", "content": list(parts)}:
            return "".join(_text_field(part) for part in parts)
    return ""


def _text_field(value: Any) -> str:
    text = value.get("text") if isinstance(value, Mapping) else value
    return text if isinstance(text, str) else ""


def _tool_call_deltas(chunks: Any) -> list[Delta]:
    if not isinstance(chunks, list):
        return []
    return [_tool_call_delta(chunk.get("index"), chunk) for chunk in chunks if isinstance(chunk, Mapping)]


def _tool_call_delta(index: Any, chunk: Mapping[str, Any]) -> ToolCallDelta:
    arguments = chunk.get("args")
    return ToolCallDelta(
        index=_index(index),
        call_id=_name(chunk.get("id")),
        name=_name(chunk.get("name")),
        arguments=arguments if isinstance(arguments, str) else "",
    )


def _whole_calls(calls: Any) -> list[Delta]:
    """Calls whose arguments came as an object, written back to JSON so that one reader serves all shapes."""
    if not isinstance(calls, list):
        return []
    deltas: list[Delta] = []
    for position, call in enumerate(calls):
        if not isinstance(call, Mapping) or not isinstance(call.get("args"), Mapping):
            continue
        try:
            arguments = json.dumps(call["args"])
        except (TypeError, ValueError):
            continue
        index = _index(call.get("index"))
        deltas.append(
            ToolCallDelta(
                index=position if index is None else index,
                call_id=_name(call.get("id")),
                name=_name(call.get("name")),
                arguments=arguments,
            )
        )
    return deltas


def _index(value: Any) -> int | str | None:
    return value if isinstance(value, int | str) else None


def _name(value: Any) -> str | None:
    """Ids and names: some providers send the empty string for "not here"."""
    return value if isinstance(value, str) and value else None
