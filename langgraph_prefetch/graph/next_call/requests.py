"""What a model is asked, and when two requests are the same. Pure.

They are if the model could not tell them apart: the same method of a model of the same class and settings, the same
messages but for their ids and for what tools keep from models, the same tools and other arguments, types told apart.
Whatever cannot be compared differs.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

Message = TypeVar("Message", bound=BaseMessage)

MAX_SNAPSHOTS = 2_000

_LEFT_OUT = frozenset({"id"})
_LEFT_OUT_OF_TOOLS = frozenset({"id", "artifact"})
"""An artifact is by its definition not sent to the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One call of a model as its class is asked.

    Attributes:
        way: the method: ``_stream``, ``_agenerate`` …
        told: a run manager was handed over, which the model may tell of tokens.
        model: its class.
        fields: its settings.
        messages: system prompt included.
        settings: the other arguments: tools, their choice, response format, stop words …
    """

    way: str
    told: bool
    model: type[BaseChatModel]
    fields: Mapping[str, Any] = field(repr=False)
    messages: Sequence[BaseMessage] = field(repr=False)
    settings: Mapping[str, Any] = field(repr=False)


def same_request(one: Request, other: Request) -> bool:
    """Whether the model could not tell the two apart."""
    return (
        (one.way, one.told, one.model) == (other.way, other.told, other.model)
        and len(one.messages) == len(other.messages)
        and equal(one.settings, other.settings)
        and all(map(same_message, reversed(one.messages), reversed(other.messages)))
        and equal(one.fields, other.fields)
    )


def same_message(one: BaseMessage, other: BaseMessage) -> bool:
    """Whether two messages are the same to a model: all but their ids, and the artifacts of tools."""
    if type(one) is not type(other):
        return False
    left_out = _LEFT_OUT_OF_TOOLS if isinstance(one, ToolMessage) else _LEFT_OUT
    mine, theirs = one.__dict__, other.__dict__
    if mine.keys() - left_out != theirs.keys() - left_out or not equal(one.model_extra, other.model_extra):
        return False
    return all(equal(value, theirs[name]) for name, value in mine.items() if name not in left_out)


def equal(one: Any, other: Any) -> bool:
    """Equality that tells ``1``, ``True`` and ``1.0`` apart, and takes what cannot be compared for different."""
    try:
        return _equal(one, other)
    except Exception:  # noqa: BLE001 - a user's object may refuse to be compared in any way
        return False


def _equal(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_equal(value, other[name]) for name, value in one.items())
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    return one is other or bool(one == other)


def fixed(value: Any) -> Any:
    """A copy that later changes in place do not reach: of dicts and lists, at any depth; other things are shared."""
    if type(value) is dict:
        return {name: fixed(each) for name, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(fixed, value))
    return value


def fields_of(model: BaseChatModel) -> dict[str, Any]:
    """The settings of a model as they are now."""
    held = model.__dict__
    return {name: fixed(held[name]) for name in type(model).model_fields if name in held}


_TOOL_SHAPES = frozenset(
    {
        *("function", "input_schema", "parameters", "toolSpec", "cachePoint"),
        *("function_declarations", "functionDeclarations"),
    }
)


def acts_by_itself(settings: Mapping[str, Any]) -> bool:
    """Whether the model's provider may run tools on its own side (a web search, code, MCP servers) during the call.

    A call that nobody may ever ask for must not. What is not known to be a plain function is taken for such a tool.
    """
    if settings.get("mcp_servers"):
        return True
    tools = settings.get("tools") or ()
    return not isinstance(tools, list | tuple) or not all(map(_is_function, tools))


def _is_function(tool: Any) -> bool:
    return (
        isinstance(tool, Mapping)
        and tool.get("type", "function") in ("function", "custom")
        and not _TOOL_SHAPES.isdisjoint(tool)
    )


def answers_calls(messages: Sequence[BaseMessage], call_ids: frozenset[str]) -> bool:
    """Whether a request holds the message that made these calls."""
    return any(
        call["id"] in call_ids
        for message in reversed(messages)
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    )


class Snapshots:
    """Copies of messages that later changes in place do not reach. One of each message while it stays as it is."""

    def __init__(self) -> None:
        self._held: OrderedDict[int, tuple[BaseMessage, BaseMessage]] = OrderedDict()

    def of(self, message: Message) -> Message:
        """A copy of ``message`` as it is now."""
        found = self._held.get(id(message))  # the message itself is held too, so that its id stays its own
        if found is not None and found[0] is message and same_message(found[1], message):
            return cast("Message", found[1])
        copied = copy.deepcopy(message)
        self._held[id(message)] = (message, copied)
        while len(self._held) > MAX_SNAPSHOTS:
            self._held.popitem(last=False)
        return copied
