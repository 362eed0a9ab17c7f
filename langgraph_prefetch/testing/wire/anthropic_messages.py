"""Anthropic messages (``POST …/v1/messages``)."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

from langgraph_prefetch.testing.wire.dialect import RETRY_SOON, Dialect, Frame, Problem, Reply
from langgraph_prefetch.testing.wire.script import Request, Stop, Turn, call_id, prompt_of
from langgraph_prefetch.testing.wire.server import WireServer

_STOP = {Stop.END: "end_turn", Stop.TOOLS: "tool_use", Stop.LENGTH: "max_tokens"}
_PROBLEM = {
    Problem.THROTTLED: (429, "rate_limit_error"),
    Problem.NO_STREAMING: (400, "invalid_request_error"),
    Problem.BAD_REQUEST: (400, "invalid_request_error"),
    Problem.OVERLOADED: (529, "overloaded_error"),
}


def _usage(request: Request, output: int) -> dict[str, Any]:
    return {
        "input_tokens": 10 * request.messages,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": output,
    }


def _message(request: Request, content: list[Any], stop: str | None, output: int) -> dict[str, Any]:
    start = {
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        "service_tier": "standard",
    }
    return {
        "id": f"msg_scripted_{request.turn}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {**_usage(request, output), **start},
    }


def _blocks(
    turn: Turn, request: Request
) -> Iterator[tuple[dict[str, Any], dict[str, Any], list[tuple[dict[str, Any], bool]]]]:
    """Per content block: its start, its whole form, and its deltas with whether each is a token."""
    if turn.thinks:
        signature = turn.signature or ""
        deltas = [({"type": "thinking_delta", "thinking": token}, True) for token in turn.reasoning]
        if signature:
            deltas.append(({"type": "signature_delta", "signature": signature}, False))
        thinking = "".join(turn.reasoning)
        start = {"type": "thinking", "thinking": "", "signature": ""}
        yield start, {"type": "thinking", "thinking": thinking, "signature": signature}, deltas
    if turn.redacted:
        block = {"type": "redacted_thinking", "data": base64.b64encode(turn.redacted).decode()}
        yield block, block, []
    if turn.text:
        text = {"type": "text", "text": "".join(turn.text)}
        yield {"type": "text", "text": ""}, text, [({"type": "text_delta", "text": token}, True) for token in turn.text]
    for position, call in enumerate(turn.calls):
        head = {"type": "tool_use", "id": call_id(call, request.turn, position), "name": call.name, "input": {}}
        pieces = [({"type": "input_json_delta", "partial_json": piece}, True) for piece in call.fragments]
        yield (
            head,
            {**head, "input": _parsed(call.json)},
            [({"type": "input_json_delta", "partial_json": ""}, False), *pieces],
        )


def _parsed(arguments: str) -> Any:
    """A whole answer cannot carry unclosed JSON: such a call arrives with empty input, as from the provider."""
    try:
        return json.loads(arguments)
    except ValueError:
        return {}


class AnthropicMessages(Dialect):
    """Thinking is a ``thinking`` block closed by a signature; redacted thinking a block of its own."""

    stream_headers: Mapping[str, str] = {"content-type": "text/event-stream; charset=utf-8"}

    def read(self, path: str, body: Mapping[str, Any]) -> Request | None:
        """Server tools have a ``type`` and a ``name`` too, so every tool has one."""
        if not path.endswith("/v1/messages"):
            return None
        return Request(
            path=path,
            body=body,
            model=str(body["model"]),
            streamed=bool(body.get("stream")),
            turn=sum(message["role"] == "assistant" for message in body["messages"]),
            prompt=prompt_of(body["messages"]),
            messages=len(body["messages"]),
            tools=tuple(tool["name"] for tool in body.get("tools") or ()),
        )

    def whole(self, turn: Turn, request: Request) -> Reply:
        """One ``message`` object."""
        content = [block for _, block, _ in _blocks(turn, request)]
        message = _message(request, content, _STOP[turn.stopped], turn.tokens)
        return Reply(200, json.dumps(message).encode(), {"request-id": f"req_scripted_{request.turn}"})

    def frames(self, turn: Turn, request: Request) -> Iterator[Frame]:
        """``message_start``, the blocks and their deltas, ``message_delta`` (stop reason, usage), ``message_stop``."""
        yield _event("message_start", message=_message(request, [], None, 1))
        yield _event("ping")
        for index, (start, _, deltas) in enumerate(_blocks(turn, request)):
            yield _event("content_block_start", index=index, content_block=start)
            for delta, is_token in deltas:
                yield _event("content_block_delta", is_token, index=index, delta=delta)
            yield _event("content_block_stop", index=index)
        stop = {"stop_reason": _STOP[turn.stopped], "stop_sequence": None}
        yield _event("message_delta", delta=stop, usage=_usage(request, turn.tokens))
        yield _event("message_stop")

    def problem(self, problem: Problem, message: str) -> Reply:
        """``{"type": "error", "error": {type, message}}``."""
        status, kind = _PROBLEM[problem]
        error = {"type": "error", "error": {"type": kind, "message": message}}
        return Reply(status, json.dumps(error).encode(), RETRY_SOON)

    def error_event(self, message: str) -> Frame:
        """``event: error``."""
        return _event("error", error={"type": "overloaded_error", "message": message})


def _event(kind: str, is_token: bool = False, **fields: Any) -> Frame:
    return Frame(f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode(), is_token)


class AnthropicWire(WireServer):
    """Scripted Anthropic server: ``ChatAnthropic(base_url=server.url, api_key="x")``."""

    dialect = AnthropicMessages()
