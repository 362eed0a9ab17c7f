"""Amazon Bedrock ``Converse`` and ``ConverseStream`` (``POST /model/ID/converse[-stream]``)."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from langgraph_prefetch.testing.wire import event_stream
from langgraph_prefetch.testing.wire.dialect import Dialect, Frame, Problem, Reply
from langgraph_prefetch.testing.wire.script import Request, Stop, Turn, call_id, prompt_of
from langgraph_prefetch.testing.wire.server import WireServer

_ROUTE = re.compile(r"/model/(?P<model>.+)/converse(?P<stream>-stream)?")
_STOP = {Stop.END: "end_turn", Stop.TOOLS: "tool_use", Stop.LENGTH: "max_tokens"}
_PROBLEM = {
    Problem.THROTTLED: (429, "ThrottlingException"),
    Problem.NO_STREAMING: (400, "ValidationException"),
    Problem.BAD_REQUEST: (400, "ValidationException"),
    Problem.OVERLOADED: (503, "ServiceUnavailableException"),
}
_METRICS = {"latencyMs": 1}


def _usage(turn: Turn, request: Request) -> dict[str, int]:
    read = 10 * request.messages
    return {"inputTokens": read, "outputTokens": turn.tokens, "totalTokens": read + turn.tokens}


def _parsed(arguments: str) -> Any:
    """A whole answer cannot carry unclosed JSON: such a call arrives with empty input."""
    try:
        return json.loads(arguments)
    except ValueError:
        return {}


def _content(turn: Turn, request: Request) -> Iterator[dict[str, Any]]:
    if turn.thinks:
        signature = {"signature": turn.signature} if turn.signature else {}
        yield {"reasoningContent": {"reasoningText": {"text": "".join(turn.reasoning), **signature}}}
    if turn.redacted:
        yield {"reasoningContent": {"redactedContent": base64.b64encode(turn.redacted).decode()}}
    if turn.text:
        yield {"text": "".join(turn.text)}
    for position, call in enumerate(turn.calls):
        use = {"toolUseId": call_id(call, request.turn, position), "name": call.name, "input": _parsed(call.json)}
        yield {"toolUse": use}


def _streamed(
    turn: Turn, request: Request
) -> Iterator[tuple[dict[str, Any] | None, list[tuple[dict[str, Any], bool]]]]:
    """Per content block: its start (tool calls only have one) and its deltas with whether each is a token."""
    if turn.thinks:
        deltas = [({"reasoningContent": {"text": token}}, True) for token in turn.reasoning]
        if turn.signature:
            deltas.append(({"reasoningContent": {"signature": turn.signature}}, False))
        yield None, deltas
    if turn.redacted:
        yield None, [({"reasoningContent": {"redactedContent": base64.b64encode(turn.redacted).decode()}}, False)]
    if turn.text:
        yield None, [({"text": token}, True) for token in turn.text]
    for position, call in enumerate(turn.calls):
        start = {"toolUse": {"toolUseId": call_id(call, request.turn, position), "name": call.name}}
        yield start, [({"toolUse": {"input": piece}}, True) for piece in call.fragments]


class BedrockConverse(Dialect):
    """Thinking is ``reasoningContent``: text deltas, then a signature; redacted thinking a block of bytes."""

    stream_headers: Mapping[str, str] = {"content-type": "application/vnd.amazon.eventstream"}

    def read(self, path: str, body: Mapping[str, Any]) -> Request | None:
        """The model id and whether to stream stand in the path."""
        route = _ROUTE.fullmatch(path)
        if route is None:
            return None
        tools = (body.get("toolConfig") or {}).get("tools", ())
        return Request(
            path=path,
            body=body,
            model=route["model"],
            streamed=route["stream"] is not None,
            turn=sum(message["role"] == "assistant" for message in body["messages"]),
            prompt=prompt_of(body["messages"]),
            messages=len(body["messages"]),
            tools=tuple(tool["toolSpec"]["name"] for tool in tools if "toolSpec" in tool),
        )

    def whole(self, turn: Turn, request: Request) -> Reply:
        """One ``Converse`` response."""
        answer = {
            "output": {"message": {"role": "assistant", "content": list(_content(turn, request))}},
            "stopReason": _STOP[turn.stopped],
            "usage": _usage(turn, request),
            "metrics": _METRICS,
        }
        return Reply(200, json.dumps(answer).encode(), {"x-amzn-requestid": f"scripted-{request.turn}"})

    def frames(self, turn: Turn, request: Request) -> Iterator[Frame]:
        """``messageStart``, the blocks with their deltas, ``messageStop``, ``metadata`` with usage."""
        yield _event("messageStart", role="assistant")
        for index, (start, deltas) in enumerate(_streamed(turn, request)):
            if start is not None:
                yield _event("contentBlockStart", contentBlockIndex=index, start=start)
            for delta, is_token in deltas:
                yield _event("contentBlockDelta", is_token, contentBlockIndex=index, delta=delta)
            yield _event("contentBlockStop", contentBlockIndex=index)
        yield _event("messageStop", stopReason=_STOP[turn.stopped])
        yield _event("metadata", usage=_usage(turn, request), metrics=_METRICS)

    def problem(self, problem: Problem, message: str) -> Reply:
        """The exception's name stands in ``x-amzn-errortype``."""
        status, kind = _PROBLEM[problem]
        return Reply(status, json.dumps({"message": message}).encode(), {"x-amzn-errortype": kind})

    def error_event(self, message: str) -> Frame:
        """A ``throttlingException`` frame, the usual way a long stream dies."""
        return Frame(event_stream.exception("throttlingException", message))


def _event(kind: str, is_token: bool = False, **fields: Any) -> Frame:
    return Frame(event_stream.event(kind, fields), is_token)


class BedrockWire(WireServer):
    """Scripted Bedrock runtime: ``ChatBedrockConverse(endpoint_url=server.url, region_name="us-east-1", …)``."""

    dialect = BedrockConverse()
