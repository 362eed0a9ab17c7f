"""Frozen values that the rooms of the house hand to each other. Nothing here does any work."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the visible answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the model's thinking, in whichever shape the provider sent it."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """A piece of one tool call.

    ``arguments`` is a fragment of JSON text. ``index`` and ``call_id`` are what the provider sent:
    the id usually stands on the first fragment only, and some providers give parallel calls the same index.
    """

    index: int | str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str = ""


Delta = TextDelta | ReasoningDelta | ToolCallDelta


class Source(StrEnum):
    """Where a speculation's query came from; coverage is split along them.

    ``NEAR`` is no speculation's: passages fetched around the thought, ranked for the real query.
    """

    REASONING = "reasoning"
    SEALED = "sealed"
    REUSE = "reuse"
    NEAR = "near"


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """A query that the running text makes likely.

    ``probability`` is P(the step's search call has exactly this query). ``cue`` names what was recognised
    (``en.need_to``, ``name``, ``question``, ``history``); ``end`` is the offset in the step's text, in characters,
    at which the query had been read. ``kind`` is the row of the rates by which it was judged (``whole/name/names``):
    guesses of one kind are right about equally often.
    """

    query: str
    probability: float
    cue: str
    end: int
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedCall:
    """A tool call whose arguments are complete although the message is still being written.

    ``textual`` marks one read from prose (``Action: Search[x]``, ``<search>x</search>``). A bare query stands under
    the name ``query``, whatever the tool calls it; an ``Action Input`` of JSON has the tool's own names.
    """

    tool: str
    arguments: Mapping[str, Any] = field(hash=False)
    call_id: str | None = None
    textual: bool = False


Signal = Guess | SealedCall


@dataclass(frozen=True, slots=True)
class Output:
    """What a search tool gave back: the content and artifact of its ``ToolMessage``, and what it said meanwhile.

    ``epoch``: of the contents it was read from, where the tool can tell.
    """

    content: Any = field(hash=False)
    artifact: Any = field(default=None, hash=False)
    said: tuple[Any, ...] = field(default=(), hash=False)
    epoch: Hashable | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Speculation:
    """One background retrieval started before its call. Times are seconds of the prefetcher's clock."""

    id: str
    tool: str
    arguments: Mapping[str, Any] = field(hash=False, repr=False)
    source: Source
    probability: float
    cue: str
    run_id: str
    step: int
    dispatched_at: float
