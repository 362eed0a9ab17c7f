"""What was asked of a judge and what came back, as it is kept: enough to read every verdict again by hand."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from langgraph_prefetch.evaluation.judging.values import NO_REPLY, Reason

FORMAT = 1


class NewerFormatError(ValueError):
    """A line was written by a release after this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One thing asked of one judge.

    Attributes:
        judge: its name.
        prompt: name and version of what it is told.
        prompt_digest: of its text.
        subject: what is judged, for a person who reads the file.
        messages: (role, text) pairs, in full.
        schema: of the reply, as JSON Schema.
        turn: sets apart askings of the same text that are meant to be several.
    """

    judge: str
    prompt: str
    prompt_digest: str
    subject: str
    messages: tuple[tuple[str, str], ...]
    schema: Mapping[str, Any]
    turn: int = 0

    @property
    def key(self) -> str:
        """Under which the reply is kept: the same judge, prompt and text are asked once, whoever wrote the text."""
        asked = [self.judge, self.prompt, self.prompt_digest, self.messages, self.turn]
        return hashlib.sha256(json.dumps(asked, ensure_ascii=False).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of it.

    Attributes:
        payload: the judge's reply as an object; None if there is none that can be read.
        reason, detail: why there is none.
        text: the reply as it came, whatever it was.
        input_tokens, output_tokens: as reported, or estimated.
        money: what the call cost, where the price is known.
        seconds: that it took.
    """

    payload: Mapping[str, Any] | None = None
    reason: Reason | None = None
    detail: str = ""
    text: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    money: float | None = None
    seconds: float = 0.0

    @property
    def came(self) -> bool:
        """Something came back, valid or not."""
        return self.reason not in NO_REPLY

    @classmethod
    def without(cls, reason: Reason, detail: str = "", **measured: Any) -> Self:
        """No payload, for a reason."""
        return cls(reason=reason, detail=detail, **measured)


def to_line(ask: Ask, answer: Answer, at: str) -> str:
    """One line of JSON; ``at`` is when the reply came, in ISO 8601."""
    asked = {"judge": ask.judge, "prompt": ask.prompt, "prompt_digest": ask.prompt_digest, "subject": ask.subject}
    held = {"format": FORMAT, "key": ask.key, **asked, "turn": ask.turn, "at": at, **asdict(answer)}
    return json.dumps({**held, "messages": ask.messages}, ensure_ascii=False, allow_nan=False)


def of_line(line: str) -> tuple[str, Answer]:
    """The key and the answer of a line.

    Raises:
        NewerFormatError: it is of a newer format.
        ValueError: it is no such line.
    """
    held = json.loads(line)
    if not isinstance(held, dict) or not isinstance(held.get("format"), int):
        raise ValueError("no verdict")  # noqa: TRY004  of a line, not of a caller
    if held["format"] > FORMAT:
        raise NewerFormatError(f"format {held['format']}, newer than the {FORMAT} that is known here")
    try:
        answer = Answer(
            payload=held["payload"],
            reason=None if held["reason"] is None else Reason(held["reason"]),
            detail=str(held["detail"]),
            text=str(held["text"]),
            input_tokens=int(held["input_tokens"]),
            output_tokens=int(held["output_tokens"]),
            money=held["money"],
            seconds=float(held["seconds"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError("no verdict") from error
    if not (answer.payload is None or isinstance(answer.payload, dict)):
        raise ValueError("no verdict")
    return str(held["key"]), answer
