"""One step's tool calls on their way: what each is expected to return, until it has returned. Pure bookkeeping."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from langgraph_prefetch.values import Output

RESULT = "result"
"""The kind of a result that is at hand: it will be served."""
P_RESULT = 0.97
REAL = "real"
"""The kind of a result that has come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What one call returns, or will probably return.

    Attributes:
        message: as the model would read it; None where nothing is known.
        kind: where that comes from.
        probability: P(it is right).
        outstanding: the agent waits for the real one.
        tool: the tool's name.
    """

    message: ToolMessage | None
    kind: str = ""
    probability: float = 0.0
    outstanding: bool = True
    tool: str = ""


class ToolStep:
    """The tool calls of one message.

    Args:
        message: the model's.
        request_of: whatever made it.
    """

    def __init__(self, message: AIMessage, made: Any) -> None:
        self.message, self.made = message, made
        self.call_ids = tuple(str(call["id"]) for call in message.tool_calls)
        self._expected: dict[str, Expected] = {}
        self._came: set[str] = set()
        self.decided = False

    def expect(self, call_id: str, expected: Expected) -> None:
        """What this call will return; too late once it has returned."""
        if call_id not in self._came:
            self._expected[call_id] = expected

    def came(self, call_id: str, message: ToolMessage | None, tool: str) -> None:
        """The call returned this; None: something that is no message."""
        self._came.add(call_id)
        self._expected[call_id] = Expected(message=message, kind=REAL, probability=1.0, outstanding=False, tool=tool)

    def expected(self, call_id: str) -> Expected | None:
        """What is known of this call."""
        return self._expected.get(call_id)

    @property
    def all_came(self) -> bool:
        """Every call has returned."""
        return self._came >= set(self.call_ids)

    def complete(self) -> tuple[Expected, ...] | None:
        """What all calls return, in the order of the message; None while something is not known."""
        found = [self._expected.get(call_id) for call_id in self.call_ids]
        known = tuple(each for each in found if each is not None and each.message is not None)
        return known if len(known) == len(self.call_ids) > 0 else None


def outstanding(expected: Sequence[Expected]) -> tuple[str, ...]:
    """The tools that the agent still waits for."""
    return tuple(each.tool for each in expected if each.outstanding)


def kind_of(expected: Sequence[Expected]) -> str:
    """The kinds of the guesses, in one name."""
    return "+".join(sorted({each.kind for each in expected if each.kind != REAL}))


def probability_of(expected: Sequence[Expected]) -> float:
    """P(all are right), taken for independent."""
    return math.prod(each.probability for each in expected)


def tool_message(output: Output, call: Mapping[str, Any]) -> ToolMessage:
    """The message that a tool node makes of an output."""
    return ToolMessage(
        content=output.content, artifact=output.artifact, name=call["name"], tool_call_id=call["id"], status="success"
    )


def message_of_call(state: Any, call_id: str) -> AIMessage | None:
    """The message in a graph's state that makes the call, wherever the state keeps its messages."""
    for messages in _message_lists(state):
        for message in reversed(messages):
            if isinstance(message, AIMessage) and any(call["id"] == call_id for call in message.tool_calls):
                return message
    return None


def _message_lists(state: Any) -> list[Sequence[BaseMessage]]:
    if isinstance(state, list | tuple):
        return [state]
    values = state if isinstance(state, Mapping) else getattr(state, "__dict__", {})
    return [each for each in values.values() if isinstance(each, list | tuple)]
