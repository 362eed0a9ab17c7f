"""What a scripted model says: frozen values that every wire dialect turns into its own bytes."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Stop(StrEnum):
    """Why the model stopped writing; each dialect has its own word for it."""

    END = "end"
    TOOLS = "tools"
    LENGTH = "length"


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """One tool call: ``fragments`` are pieces of JSON text, one per streamed delta.

    Without a ``call_id`` the call is named after its place: ``call_0_1`` is the second call of the first turn.
    """

    name: str
    fragments: tuple[str, ...] = ("{}",)
    call_id: str | None = None

    @classmethod
    def of(
        cls, name: str, arguments: Mapping[str, Any], *, pieces: int = 3, call_id: str | None = None
    ) -> ScriptedCall:
        """A call with these arguments, their JSON cut into ``pieces`` (≥ 1) fragments of about equal length."""
        if pieces < 1:
            raise ValueError(f"pieces must be at least 1, got {pieces}")
        encoded = json.dumps(arguments, ensure_ascii=False)
        size = -(-len(encoded) // pieces)
        return cls(name, tuple(encoded[at : at + size] for at in range(0, len(encoded), size)), call_id)

    @property
    def json(self) -> str:
        """The whole argument text; not valid JSON where the script cuts a call short on purpose."""
        return "".join(self.fragments)


@dataclass(frozen=True, slots=True)
class Throttled:
    """The first ``times`` requests for this turn are refused before any token (HTTP 429); ``None`` refuses all."""

    times: int | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection is closed after ``tokens`` streamed tokens; a plain answer is closed inside its body."""

    tokens: int


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    """The provider's own error event arrives after ``tokens`` streamed tokens; a plain request fails with HTTP 5xx."""

    tokens: int


Fault = Throttled | Cut | ErrorEvent

SIGNATURE = base64.b64encode(b"scripted signature").decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of the model: thinking, then text, then calls; every string is one streamed token.

    ``signature`` closes the thinking where the dialect has signatures (``None``: not sent; with empty ``reasoning`` a
    signed, wordless thinking block is sent only if ``signed_only``). ``redacted`` is a thinking block of opaque bytes.
    ``refusal`` is sent where the dialect has a field for it (OpenAI), in place of text.
    """

    reasoning: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    calls: tuple[ScriptedCall, ...] = ()
    stop: Stop | None = None
    signature: str | None = SIGNATURE
    signed_only: bool = False
    redacted: bytes = b""
    refusal: str = ""
    fault: Fault | None = None

    @property
    def stopped(self) -> Stop:
        """The stop reason: as scripted, or else the one that fits the content."""
        return self.stop or (Stop.TOOLS if self.calls else Stop.END)

    @property
    def thinks(self) -> bool:
        """Whether a readable thinking block, perhaps without words, belongs to the message."""
        return bool(self.reasoning) or self.signed_only

    @property
    def tokens(self) -> int:
        """How many tokens the turn has, as counted in usage and in pauses."""
        return len(self.reasoning) + len(self.text) + sum(len(call.fragments) for call in self.calls)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request as the server understood it.

    ``turn`` is the number of assistant messages it carries, ``prompt`` the text of the last user message that has
    text, ``tools`` the names of the tools offered.
    """

    path: str
    body: Mapping[str, Any] = field(hash=False)
    model: str
    streamed: bool
    turn: int
    prompt: str
    messages: int
    tools: tuple[str, ...]


def prompt_of(messages: Sequence[Mapping[str, Any]]) -> str:
    """The text of the last user message that has text, whether a string or text blocks; ``""`` if none has."""
    for message in reversed(messages):
        content = message.get("content") or ""
        blocks = [{"text": content}] if isinstance(content, str) else content
        text = "".join(block.get("text") or "" for block in blocks)
        if message["role"] == "user" and text:
            return text
    return ""


Script = Sequence[Turn] | Callable[[Request], Turn]


class ScriptExhaustedError(LookupError):
    """The conversation has more turns than the script; says how many of each."""


def turn_of(script: Script, request: Request) -> Turn:
    """The turn that answers ``request``; raises :class:`ScriptExhaustedError` past the end of a list.

    It depends on the request alone, so concurrent conversations with one server do not disturb each other.
    """
    if callable(script):
        return script(request)
    if request.turn >= len(script):
        raise ScriptExhaustedError(f"the script has {len(script)} turns, the request asks for turn {request.turn + 1}")
    return script[request.turn]


def call_id(call: ScriptedCall, turn: int, position: int) -> str:
    """The call's id on the wire."""
    return call.call_id or f"call_{turn}_{position}"


def words(text: str) -> tuple[str, ...]:
    """``text`` cut after each space: a handy way to write tokens (``"I need it"`` → ``("I ", "need ", "it")``)."""
    return tuple(piece for piece in text.replace(" ", " \0").split("\0") if piece)
