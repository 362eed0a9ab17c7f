"""Returned control: what an agent asks for, typed, and what is answered. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from langchain_core.documents import Document

from langgraph_prefetch.aws.bedrock_agents.values import Invocation, ReturnedControl

_CONFIRMED = "RESULT"


def read_control(event: Mapping[str, Any]) -> ReturnedControl:
    """From a ``returnControl`` event."""
    kinds = ("functionInvocationInput", "apiInvocationInput")
    told = [each[kind] for each in event.get("invocationInputs") or () for kind in kinds if kind in each]
    return ReturnedControl(
        invocation_id=event.get("invocationId", ""), invocations=tuple(map(_invocation, told)), event=event
    )


def read_traced(told: Mapping[str, Any]) -> Invocation:
    """From the ``actionGroupInvocationInput`` of a trace, which names things otherwise."""
    body = [part for parts in ((told.get("requestBody") or {}).get("content") or {}).values() for part in parts]
    return Invocation(
        action_group=told.get("actionGroupName", ""),
        function=told.get("function"),
        api_path=told.get("apiPath"),
        http_method=told.get("verb"),
        arguments=_typed([*(told.get("parameters") or ()), *body]),
    )


def read_function_event(event: Mapping[str, Any]) -> Invocation:
    """From what the Lambda function of an action group is sent."""
    return _invocation(event)


def _invocation(told: Mapping[str, Any]) -> Invocation:
    content = ((told.get("requestBody") or {}).get("content") or {}).values()
    body = [part for each in content for part in each.get("properties") or ()]
    return Invocation(
        action_group=told.get("actionGroup", ""),
        function=told.get("function"),
        api_path=told.get("apiPath"),
        http_method=told.get("httpMethod"),
        arguments=_typed([*(told.get("parameters") or ()), *body]),
        needs_confirmation=told.get("actionInvocationType", _CONFIRMED) != _CONFIRMED,
        agent_id=told.get("agentId"),
    )


def _typed(parameters: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return {each["name"]: typed(each.get("value", ""), each.get("type", "")) for each in parameters if "name" in each}


def typed(value: str, kind: str) -> Any:
    """A parameter's value, which is sent as text, in its schema's type; as text where it is none of that type."""
    match kind.lower():
        case "integer" | "number" | "array" | "object" | "boolean":
            wanted: tuple[type, ...] = {
                "integer": (int,),
                "number": (int, float),
                "array": (list,),
                "object": (dict,),
                "boolean": (bool,),
            }[kind.lower()]
            try:
                read = json.loads(value.lower() if kind.lower() == "boolean" else value)
            except ValueError:
                return value
            return read if type(read) in wanted else value
        case _:
            return value


def tool_of(invocation: Invocation, tools: Collection[str]) -> str | None:
    """The name under which its tool was given; None: there is none."""
    return next((name for name in invocation.names if name in tools), None)


def result(invocation: Invocation, content: Any) -> dict[str, Any]:
    """One of ``returnControlInvocationResults``."""
    told: dict[str, Any] = {"actionGroup": invocation.action_group}
    if invocation.agent_id is not None:
        told["agentId"] = invocation.agent_id
    if invocation.function is not None:
        body = {"TEXT": {"body": as_text(content)}}
        return {"functionResult": {**told, "function": invocation.function, "responseBody": body}}
    api = {"apiPath": invocation.api_path or "", "httpMethod": invocation.http_method or "GET"}
    body = {"application/json": {"body": as_json(content)}}
    return {"apiResult": {**told, **api, "httpStatusCode": 200, "responseBody": body}}


def as_text(content: Any) -> str:
    """What a tool gave as text: strings as they are, documents by their texts, all else as JSON."""
    if isinstance(content, str):
        return content
    if _texts(content):
        return "\n\n".join(_text(each) for each in content)
    return as_json(content)


def as_json(content: Any) -> str:
    """What a tool gave as JSON: JSON texts as they are."""
    if isinstance(content, str):
        try:
            json.loads(content)
        except ValueError:
            return json.dumps(content, ensure_ascii=False)
        return content
    return json.dumps(content, ensure_ascii=False, default=_plain)


def _texts(content: Any) -> bool:
    """Whether it is a list of documents, or of blocks of text."""
    if not isinstance(content, Sequence) or not content:
        return False
    return all(
        isinstance(each, Document) or (isinstance(each, dict) and each.get("type") == "text") for each in content
    )


def _text(each: Any) -> str:
    return each.page_content if isinstance(each, Document) else str(each.get("text", ""))


def _plain(value: Any) -> Any:
    if isinstance(value, Document):
        return {"text": value.page_content, "metadata": value.metadata}
    return str(value)
