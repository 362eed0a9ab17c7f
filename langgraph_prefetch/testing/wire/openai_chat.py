"""OpenAI chat completions (``POST …/chat/completions``), also under Azure's deployment paths."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from langgraph_prefetch.testing.wire.dialect import RETRY_SOON, Dialect, Frame, Problem, Reply
from langgraph_prefetch.testing.wire.script import Request, Stop, Turn, call_id, prompt_of
from langgraph_prefetch.testing.wire.server import WireServer

_STOP = {Stop.END: "stop", Stop.TOOLS: "tool_calls", Stop.LENGTH: "length"}
_FILTERS = [{"prompt_index": 0, "content_filter_results": {}}]
_PROBLEM = {
    Problem.THROTTLED: (429, "requests", "rate_limit_exceeded"),
    Problem.NO_STREAMING: (400, "invalid_request_error", "unsupported_value"),
    Problem.BAD_REQUEST: (400, "invalid_request_error", None),
    Problem.OVERLOADED: (503, "server_error", None),
}


def _usage(turn: Turn, request: Request) -> dict[str, Any]:
    read = 10 * request.messages
    return {
        "prompt_tokens": read,
        "completion_tokens": turn.tokens,
        "total_tokens": read + turn.tokens,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": len(turn.reasoning), "audio_tokens": 0},
    }


def _envelope(request: Request, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-scripted-{request.turn}",
        "object": kind,
        "created": 1_700_000_000,
        "model": request.model,
        "service_tier": "default",
        "system_fingerprint": "fp_scripted",
    }


def _deltas(turn: Turn, request: Request) -> Iterator[tuple[dict[str, Any], bool]]:
    yield {"role": "assistant", "content": None if turn.calls and not turn.text else "", "refusal": None}, False
    for token in turn.reasoning:
        yield {"reasoning_content": token}, True
    for token in turn.text:
        yield {"content": token}, True
    if turn.refusal:
        yield {"refusal": turn.refusal}, False
    for index, call in enumerate(turn.calls):
        function = {"name": call.name, "arguments": ""}
        head = {"index": index, "id": call_id(call, request.turn, index), "type": "function", "function": function}
        yield {"tool_calls": [head]}, False
        for fragment in call.fragments:
            yield {"tool_calls": [{"index": index, "function": {"arguments": fragment}}]}, True


def _is_azure(request: Request) -> bool:
    return "/deployments/" in request.path


class OpenAIChat(Dialect):
    """Thinking goes into the extra field ``reasoning_content``; Azure's paths get its content-filter fields."""

    stream_headers: Mapping[str, str] = {"content-type": "text/event-stream; charset=utf-8"}

    def read(self, path: str, body: Mapping[str, Any]) -> Request | None:
        """Azure names the model in the path (``/openai/deployments/NAME/…``), OpenAI in the body."""
        if not path.endswith("/chat/completions"):
            return None
        _, _, deployment = path.partition("/deployments/")
        return Request(
            path=path,
            body=body,
            model=str(body.get("model") or deployment.partition("/")[0]),
            streamed=bool(body.get("stream")),
            turn=sum(message["role"] == "assistant" for message in body["messages"]),
            prompt=prompt_of(body["messages"]),
            messages=len(body["messages"]),
            tools=tuple(tool["function"]["name"] for tool in body.get("tools") or ()),
        )

    def whole(self, turn: Turn, request: Request) -> Reply:
        """One ``chat.completion`` object."""
        message: dict[str, Any] = {
            "role": "assistant",
            "content": "".join(turn.text) if turn.text or not (turn.calls or turn.refusal) else None,
            "refusal": turn.refusal or None,
            "annotations": [],
        }
        if turn.reasoning:
            message["reasoning_content"] = "".join(turn.reasoning)
        if turn.calls:
            message["tool_calls"] = [
                {
                    "id": call_id(call, request.turn, index),
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.json},
                }
                for index, call in enumerate(turn.calls)
            ]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _STOP[turn.stopped]}
        answer = {**_envelope(request, "chat.completion"), "choices": [choice], "usage": _usage(turn, request)}
        if _is_azure(request):
            choice["content_filter_results"] = {}
            answer["prompt_filter_results"] = _FILTERS
        return Reply(200, json.dumps(answer).encode())

    def frames(self, turn: Turn, request: Request) -> Iterator[Frame]:
        """Server-sent ``chat.completion.chunk`` objects, a usage chunk if the request asked for it, then ``[DONE]``."""
        with_usage = bool((request.body.get("stream_options") or {}).get("include_usage"))
        envelope = _envelope(request, "chat.completion.chunk") | ({"usage": None} if with_usage else {})

        def chunk(delta: dict[str, Any], finish: str | None) -> bytes:
            filtered: dict[str, Any] = {"content_filter_results": {}} if _is_azure(request) else {}
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish, **filtered}
            return _event({**envelope, "choices": [choice]})

        if _is_azure(request):
            yield Frame(_event({**envelope, "choices": [], "prompt_filter_results": _FILTERS}))
        for delta, is_token in _deltas(turn, request):
            yield Frame(chunk(delta, None), is_token)
        yield Frame(chunk({}, _STOP[turn.stopped]))
        if with_usage:
            yield Frame(_event({**envelope, "choices": [], "usage": _usage(turn, request)}))
        yield Frame(b"data: [DONE]\n\n")

    def problem(self, problem: Problem, message: str) -> Reply:
        """``{"error": {message, type, param, code}}``; whether to retry is left to the client's own rule."""
        status, kind, code = _PROBLEM[problem]
        return Reply(status, json.dumps(_error(kind, code, message)).encode(), RETRY_SOON)

    def error_event(self, message: str) -> Frame:
        """An error object where a chunk is due."""
        return Frame(_event(_error("server_error", None, message)))


def _error(kind: str, code: str | None, message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _event(value: Mapping[str, Any]) -> bytes:
    return b"data: %b\n\n" % json.dumps(value).encode()


class OpenAIWire(WireServer):
    """Scripted OpenAI server: ``ChatOpenAI(base_url=f"{server.url}/v1", api_key="x")``."""

    dialect = OpenAIChat()
