"""What a request to the scripted judge asks for: which fields it wants, and the texts it is about."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph_prefetch.testing.wire import Request

_TAG = re.compile(r"<(input|output|outputs|context|reference_outputs)>\s*(.*?)\s*</\1>", re.DOTALL)
_STATED = "specified in JSON Schema:"
_FROM_TAGS = {
    "input": "question",
    "output": "answer",
    "outputs": "answer",
    "context": "context",
    "reference_outputs": "reference",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request, understood.

    Attributes:
        fields: of the reply that is wanted, as JSON Schema has them.
        data: the texts: the JSON behind the last ``input:``, or what stands in tags such as ``<output>``.
        tool: the function that the reply is to be an argument of; None if it is to be the text.
    """

    fields: Mapping[str, Any] = field(hash=False)
    data: Mapping[str, Any] = field(hash=False)
    tool: str | None = None


def asked(request: Request) -> Asked:
    """What a request asks for, whether by a response format, by a tool, or by a schema in its prompt."""
    schema, tool = _schema(request)
    return Asked(fields=schema.get("properties", {}), data=_data(request.prompt), tool=tool)


def _schema(request: Request) -> tuple[Mapping[str, Any], str | None]:
    wanted = request.body.get("response_format") or {}
    if wanted.get("type") == "json_schema":
        return wanted["json_schema"]["schema"], None
    for tool in request.body.get("tools") or ():
        as_openai_has_it = tool.get("function") or {"name": tool["name"], "parameters": tool["input_schema"]}
        return as_openai_has_it["parameters"], as_openai_has_it["name"]
    _, stated, rest = request.prompt.partition(_STATED)
    return (_first_object(rest) if stated else {}), None


def _data(prompt: str) -> dict[str, Any]:
    _, given, rest = prompt.rpartition("input:")
    found = _first_object(rest) if given else {}
    return found or {_FROM_TAGS[tag]: text for tag, text in _TAG.findall(prompt)}


def _first_object(text: str) -> dict[str, Any]:
    start = text.find("{")
    try:
        value, _ = json.JSONDecoder().raw_decode(text, max(start, 0))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
