"""A message in any of the shapes in which people write LangChain messages down, as one value.

Read are: what ``dumpd`` and ``dumps`` write (``{"lc": 1, "id": […], "kwargs": {…}}``), ``messages_to_dict``
(``{"type", "data"}``), ``model_dump`` (``{"type", "content"}``), the chat format of OpenAI (``{"role", "content"}``)
with the content blocks of other providers, and pairs (``["user", "Hello"]``). What was written with ``str()`` cannot be
read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from langgraph_prefetch.evaluation.tokens import cut
from langgraph_prefetch.intent.stream import deltas_of_chunk
from langgraph_prefetch.values import Delta, ReasoningDelta, TextDelta, ToolCallDelta

Role = Literal["human", "ai", "tool", "system"]

_ROLES: Mapping[str, Role] = {
    **dict.fromkeys(("human", "user", "humanmessage", "humanmessagechunk"), "human"),
    **dict.fromkeys(("ai", "assistant", "aimessage", "aimessagechunk"), "ai"),
    **dict.fromkeys(("tool", "function", "toolmessage", "toolmessagechunk", "functionmessage"), "tool"),
    **dict.fromkeys(("system", "developer", "systemmessage", "systemmessagechunk"), "system"),
}
_CALL_BLOCKS = {"tool_use": "input", "tool_call": "args"}
"""Content blocks that are calls, and where their arguments stand."""
_PAIR = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class WireMessage:
    """One message; its attributes are named as LangChain's, so that readers of those read it too.

    ``tool_call_chunks`` is None for a whole message.
    """

    role: Role
    content: Any = field(default="", repr=False)
    additional_kwargs: Mapping[str, Any] = field(default_factory=dict, repr=False)
    tool_calls: list[dict[str, Any]] = field(default_factory=list, repr=False)
    tool_call_chunks: list[Any] | None = field(default=None, repr=False)
    id: str | None = None
    tool_call_id: str | None = None
    name: str | None = None

    @property
    def text(self) -> str:
        """What a reader sees of it: text, or the JSON of anything else."""
        if isinstance(self.content, list):
            blocks = (each.get("text") if isinstance(each, Mapping) else each for each in self.content)
            return "".join(each for each in blocks if isinstance(each, str))
        return self.content if isinstance(self.content, str) else json.dumps(self.content, ensure_ascii=False)

    @property
    def deltas(self) -> tuple[Delta, ...]:
        """A chunk's pieces as they came; a whole message's as it would have been streamed, a token each."""
        found = deltas_of_chunk(self)
        return found if self.tool_call_chunks is not None else tuple(in_tokens(found))


def message_of(value: object) -> WireMessage | None:
    """The message, or None if it is none."""
    if isinstance(value, list | tuple):
        if len(value) == _PAIR and all(isinstance(each, str) for each in value):
            role = _ROLES.get(value[0].lower())
            return WireMessage(role=role, content=value[1]) if role is not None else None
        return None
    if not isinstance(value, Mapping):
        return None
    if value.get("type") == "constructor" and isinstance(value.get("kwargs"), Mapping):
        name = value["id"][-1] if isinstance(value.get("id"), list) and value["id"] else ""
        return _of_fields(str(name), value["kwargs"])
    if isinstance(value.get("data"), Mapping) and isinstance(value.get("type"), str):
        return _of_fields(value["type"], value["data"])
    kind = value.get("role") if isinstance(value.get("role"), str) else value.get("type")
    return _of_fields(kind, value) if (isinstance(kind, str) and "content" in value) or _has_calls(value) else None


def in_tokens(deltas: Iterable[Delta]) -> Iterable[Delta]:
    """Whole texts and calls, cut into the pieces in which a model would have streamed them."""
    for delta in deltas:
        match delta:
            case ToolCallDelta(arguments=arguments):
                yield ToolCallDelta(index=delta.index, call_id=delta.call_id, name=delta.name)
                yield from (ToolCallDelta(index=delta.index, arguments=piece) for piece in cut(arguments))
            case TextDelta(text):
                yield from (TextDelta(piece) for piece in cut(text))
            case ReasoningDelta(text):
                yield from (ReasoningDelta(piece) for piece in cut(text))


def last_question(messages: Iterable[WireMessage]) -> str:
    """What the user asked last; empty if nobody did."""
    return next((each.text for each in reversed(list(messages)) if each.role == "human"), "")


def _has_calls(value: Mapping[str, Any]) -> bool:
    """An assistant's message of calls alone may leave the content out."""
    return value.get("role") == "assistant" and isinstance(value.get("tool_calls"), list)


def _of_fields(kind: object, fields: Mapping[str, Any]) -> WireMessage | None:
    role = _ROLES.get(kind.lower()) if isinstance(kind, str) else None
    if role is None:
        return None
    content = fields.get("content")
    extra = fields.get("additional_kwargs")
    extra = dict(extra) if isinstance(extra, Mapping) else {}
    for name in ("reasoning_content", "reasoning"):
        if isinstance(fields.get(name), str) and fields[name]:
            extra.setdefault(name, fields[name])
    chunks = fields.get("tool_call_chunks")
    is_chunk = str(kind).lower().endswith("chunk") or isinstance(chunks, list)
    return WireMessage(
        role=role,
        content="" if content is None else content,
        additional_kwargs=extra,
        tool_calls=list(_calls(fields.get("tool_calls"), extra.get("tool_calls"), content)) if role == "ai" else [],
        tool_call_chunks=(chunks if isinstance(chunks, list) else []) if is_chunk else None,
        id=_text(fields.get("id")),
        tool_call_id=_text(fields.get("tool_call_id")),
        name=_text(fields.get("name")),
    )


def _calls(given: object, older: object, content: object) -> Iterable[dict[str, Any]]:
    """The calls of a message: of the first place that has any."""
    blocks = content if isinstance(content, list) else []
    in_content = [each for each in blocks if isinstance(each, Mapping) and str(each.get("type")) in _CALL_BLOCKS]
    for place in (given, older, in_content):
        if isinstance(place, list) and (found := [call for each in place if (call := _call(each)) is not None]):
            return found
    return []


def _call(value: object) -> dict[str, Any] | None:
    if not isinstance(value, Mapping):
        return None
    if isinstance(value.get("function"), Mapping):  # as OpenAI writes it
        name, arguments = value["function"].get("name"), value["function"].get("arguments")
    else:
        name = value.get("name")
        arguments = value.get(_CALL_BLOCKS.get(str(value.get("type")), "args"))
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return None
    if not isinstance(name, str) or not name or not isinstance(arguments, dict):
        return None
    return {"name": name, "args": arguments, "id": _text(value.get("id"))}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
