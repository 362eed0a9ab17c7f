"""A model behind any OpenAI-compatible address, as Bedrock's ``Converse`` would tell what it says."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langgraph_prefetch.testing.wire import event_stream
from langgraph_prefetch.testing.wire.dialect import Frame
from langgraph_prefetch.testing.wire.script import Request, ScriptedCall, Stop, Turn

_STOP = {"stop": Stop.END, "tool_calls": Stop.TOOLS, "length": Stop.LENGTH}
_STOP_REASON = {Stop.END: "end_turn", Stop.TOOLS: "tool_use", Stop.LENGTH: "max_tokens"}


@dataclass(frozen=True, slots=True)
class OpenAIModel:
    """``OpenAIModel("http://127.0.0.1:8000/v1", "a-model")``: what it says is passed on.

    Args:
        url: the address that ``/chat/completions`` follows.
        name: sent as the model's name; "" sends Bedrock's model id.
        key: sent as a bearer token, if there is one.
        timeout_seconds: how long one read may take.

    Raises:
        ValueError: an address that is not http or https.
    """

    url: str
    name: str = ""
    key: str = ""
    timeout_seconds: float = 300.0

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise ValueError(f"url is the http address that /chat/completions follows, not {self.url!r}")

    def __repr__(self) -> str:
        return f"OpenAIModel({self.url!r}, {self.name!r})"

    def __call__(self, request: Request) -> Turn:
        """The whole answer to a ``Converse`` request."""
        return self.say(chat_messages(request.body), chat_tools(request.body), _settings(request.body), request.model)

    def say(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] = (),
        settings: Mapping[str, Any] | None = None,
        model: str = "",
    ) -> Turn:
        """The whole answer to messages of the chat interface."""
        said = Turn()
        calls: dict[int, ScriptedCall] = {}
        for delta, finish in self._deltas(messages, tools, settings or {}, model):
            said = replace(
                said,
                reasoning=(*said.reasoning, *_text(delta, "reasoning_content")),
                text=(*said.text, *_text(delta, "content")),
                stop=_STOP.get(finish or "", said.stop),
            )
            for part in delta.get("tool_calls") or ():
                calls[part["index"]] = _joined(calls.get(part["index"]), part)
        return replace(said, calls=tuple(calls[index] for index in sorted(calls)))

    def frames(self, request: Request) -> Iterator[Frame]:
        """A ``ConverseStream``'s events, each as soon as the model has said what it tells."""
        body = request.body
        yield _event("messageStart", role="assistant")
        block, open_kind, stop = -1, None, Stop.END
        said = 0
        for delta, finish in self._deltas(chat_messages(body), chat_tools(body), _settings(body), request.model):
            stop = _STOP.get(finish or "", stop)
            for kind, start, content in _blocks(delta):
                if kind != open_kind:
                    if open_kind is not None:
                        yield _event("contentBlockStop", contentBlockIndex=block)
                    block, open_kind = block + 1, kind
                    if start is not None:
                        yield _event("contentBlockStart", contentBlockIndex=block, start={"toolUse": start})
                if content is not None:
                    said += 1
                    yield _event("contentBlockDelta", contentBlockIndex=block, delta=content)
        if open_kind is not None:
            yield _event("contentBlockStop", contentBlockIndex=block)
        yield _event("messageStop", stopReason=_STOP_REASON[stop])
        usage = {"inputTokens": 0, "outputTokens": said, "totalTokens": said}
        yield _event("metadata", usage=usage, metrics={"latencyMs": 1})

    def _deltas(
        self, messages: Sequence[Any], tools: Sequence[Any], settings: Mapping[str, Any], model: str
    ) -> Iterator[tuple[Mapping[str, Any], str | None]]:
        asked: dict[str, Any] = {"model": self.name or model, "messages": messages, "stream": True, **settings}
        if tools:
            asked["tools"] = tools
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        address = f"{self.url.rstrip('/')}/chat/completions"
        post = urllib.request.Request(address, json.dumps(asked).encode(), headers)  # noqa: S310 - checked when made
        with urllib.request.urlopen(post, timeout=self.timeout_seconds) as answer:  # noqa: S310
            for line in answer:
                text = line.decode().strip()
                if not text.startswith("data:") or text == "data: [DONE]":
                    continue
                event = json.loads(text.removeprefix("data:"))
                if "error" in event:
                    raise ConnectionError("the model's server broke off")
                for choice in event.get("choices", ())[:1]:
                    yield choice.get("delta") or {}, choice.get("finish_reason")


def _event(kind: str, **fields: Any) -> Frame:
    return Frame(event_stream.event(kind, fields))


def _text(delta: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return (delta[name],) if delta.get(name) else ()


def _joined(call: ScriptedCall | None, part: Mapping[str, Any]) -> ScriptedCall:
    function = part.get("function") or {}
    if call is None:
        call = ScriptedCall(function.get("name") or "", (), part.get("id"))
    return replace(call, fragments=(*call.fragments, *_text(function, "arguments")))


def _blocks(delta: Mapping[str, Any]) -> Iterator[tuple[Any, dict[str, Any] | None, dict[str, Any] | None]]:
    """Per piece: which block it belongs to, how that begins, and the piece itself."""
    for text in _text(delta, "reasoning_content"):
        yield "reasoning", None, {"reasoningContent": {"text": text}}
    for text in _text(delta, "content"):
        yield "text", None, {"text": text}
    for part in delta.get("tool_calls") or ():
        function = part.get("function") or {}
        start = {"toolUseId": part.get("id") or f"call_{part['index']}", "name": function.get("name") or ""}
        yield ("call", part["index"]), start, None
        for arguments in _text(function, "arguments"):
            yield ("call", part["index"]), start, {"toolUse": {"input": arguments}}


def _settings(body: Mapping[str, Any]) -> dict[str, Any]:
    given = body.get("inferenceConfig") or {}
    names = {"maxTokens": "max_tokens", "temperature": "temperature", "topP": "top_p", "stopSequences": "stop"}
    return {ours: given[theirs] for theirs, ours in names.items() if theirs in given}


def chat_tools(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tools of a ``Converse`` request, as the chat interface has them."""
    specs = [tool["toolSpec"] for tool in (body.get("toolConfig") or {}).get("tools", ()) if "toolSpec" in tool]
    return [
        {
            "type": "function",
            "function": {
                "name": spec["name"],
                "description": spec.get("description", ""),
                "parameters": spec["inputSchema"]["json"],
            },
        }
        for spec in specs
    ]


def chat_messages(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages of a ``Converse`` request, as the chat interface has them. Thinking is left out."""
    system = "".join(block.get("text", "") for block in body.get("system") or ())
    messages: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
    for message in body["messages"]:
        blocks = message["content"]
        results = [block["toolResult"] for block in blocks if "toolResult" in block]
        messages += [
            {"role": "tool", "tool_call_id": result["toolUseId"], "content": _said(result["content"])}
            for result in results
        ]
        text = "".join(block.get("text", "") for block in blocks)
        uses = [block["toolUse"] for block in blocks if "toolUse" in block]
        if text or uses or not results:
            told: dict[str, Any] = {"role": message["role"], "content": text}
            if uses:
                told["tool_calls"] = [
                    {
                        "id": use["toolUseId"],
                        "type": "function",
                        "function": {"name": use["name"], "arguments": json.dumps(use["input"])},
                    }
                    for use in uses
                ]
            messages.append(told)
    return messages


def _said(content: Sequence[Mapping[str, Any]]) -> str:
    return "".join(block["text"] if "text" in block else json.dumps(block.get("json")) for block in content)
