"""What a scripted chat model says, as frozen values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call. Without an ``id`` it is named after its place: ``call_2_0`` is the first call of the second turn."""

    name: str
    args: Mapping[str, Any] = field(default_factory=dict, hash=False)
    id: str | None = None

    @classmethod
    def of(cls, call: Call | Mapping[str, Any]) -> Call:
        """From a ``Call``, or a mapping with ``name``, ``args`` and perhaps ``id`` as LangChain's own ``ToolCall``."""
        return call if isinstance(call, Call) else cls(call["name"], call["args"], call.get("id"))

    def fragments(self, pieces: int) -> tuple[str, ...]:
        """The arguments as JSON text, cut into about ``pieces`` parts of equal length."""
        text = json.dumps(dict(self.args), ensure_ascii=False)
        size = max(1, -(-len(text) // max(1, pieces)))
        return tuple(text[at : at + size] for at in range(0, len(text), size))


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the model: it thinks, speaks, then calls tools.

    A string is streamed word by word; a sequence of strings piece by piece, as given. With ``error`` the stream breaks
    with that exception after the last piece.
    """

    reasoning: str | Sequence[str] = ()
    text: str | Sequence[str] = ()
    calls: Sequence[Call | Mapping[str, Any]] = ()
    error: BaseException | None = None


Script = Sequence[Turn] | Callable[[Sequence[BaseMessage]], Turn]


class ScriptExhaustedError(LookupError):
    """The conversation asks for more turns than the script has."""


def pieces_of(text: str | Sequence[str]) -> tuple[str, ...]:
    """``text`` as it is streamed: words with the spaces behind them, or the pieces as given; empty ones left out."""
    pieces = re.findall(r"\S+\s*|\s+", text) if isinstance(text, str) else text
    return tuple(piece for piece in pieces if piece)


def turn_number(messages: Sequence[BaseMessage]) -> int:
    """How many messages the model has said so far in the conversation."""
    return sum(isinstance(message, AIMessage) for message in messages)


def turn_of(script: Script, messages: Sequence[BaseMessage]) -> Turn:
    """The model's next message. It depends on the conversation alone, so concurrent ones do not disturb each other.

    Raises:
        ScriptExhaustedError: a list of turns that is shorter than the conversation.
    """
    if callable(script):
        return script(messages)
    return _nth(script, turn_number(messages))


def script_by_question(scripts: Mapping[str, Sequence[Turn]]) -> Callable[[Sequence[BaseMessage]], Turn]:
    """A script that follows the user's latest question: each has turns of its own, counted from where it was asked.

    Raises:
        ScriptExhaustedError: when asked for a question that has no script, or more turns than it has.
    """

    def script(messages: Sequence[BaseMessage]) -> Turn:
        asked = [place for place, message in enumerate(messages) if isinstance(message, HumanMessage)]
        question = str(messages[asked[-1]].text) if asked else ""
        if question not in scripts:
            raise ScriptExhaustedError(f"no script for the question {question!r}")
        return _nth(scripts[question], turn_number(messages[asked[-1] :]))

    return script


def _nth(turns: Sequence[Turn], number: int) -> Turn:
    if number >= len(turns):
        raise ScriptExhaustedError(f"the script has {len(turns)} turns, the conversation asks for turn {number + 1}")
    return turns[number]
