"""A backend that can tell what each answer should have been.

It shares nothing with :mod:`langgraph_prefetch.keys`, so that a fault there cannot hide itself here. Every answer is a
text unique to what the backend was given (tool, typed arguments, the caller's configuration with ``k``, and how often
other tools had changed that caller's data), and every answered call is compared with what its own call was given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a search was given. ``owner`` is whose data is searched: a tenant, or one run."""

    tool: str
    arguments: Mapping[str, Any] = field(hash=False)
    configuration: Mapping[str, Any] = field(hash=False)
    owner: str


class Oracle:
    """Answers searches, and counts the answers that went to the wrong call."""

    def __init__(self) -> None:
        self._changes: Counter[str] = Counter()
        self.checked = 0
        self.wrong = 0

    def changed(self, owner: str) -> None:
        """Another tool ran: from now on ``owner``'s searches have other results."""
        self._changes[owner] += 1

    def version(self, owner: str) -> int:
        """How often ``owner``'s data has changed."""
        return self._changes[owner]

    def answer(self, asked: Asked) -> str:
        """What a search that reads now returns."""
        return f"{self._changes[asked.owner]} {_identity(asked)}"

    def check(self, asked: Asked, answer: object, *, since: int) -> bool:
        """Count ``answer`` to a call that came at version ``since``; False if it is not what the call would have got.

        A call may see the data of any moment between its coming and its answer.
        """
        version, _, identity = str(answer).partition(" ")
        right = identity == _identity(asked) and since <= int(version) <= self._changes[asked.owner]
        self.checked += 1
        self.wrong += not right
        return right


def _identity(asked: Asked) -> str:
    return " | ".join((asked.owner, asked.tool, _typed(asked.arguments), _typed(asked.configuration)))


def _typed(value: Any) -> str:
    """A value with the type of each of its parts: ``1``, ``True``, ``1.0`` and ``"1"`` give four texts."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(sorted(f"{_typed(name)}: {_typed(part)}" for name, part in value.items())) + "}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}[" + ", ".join(map(_typed, value)) + "]"
    return f"{type(value).__name__} {value!r}"
