"""The room's front: one `IntentReader` for each model call turns deltas into guesses and sealed calls."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.intent.actions import ActionReader
from langgraph_prefetch.intent.cues import CueSet, default_cues
from langgraph_prefetch.intent.likelihood import Habit
from langgraph_prefetch.intent.queries import Guesser
from langgraph_prefetch.intent.query_tags import QueryTagReader
from langgraph_prefetch.intent.think_tags import ThinkTagSplitter
from langgraph_prefetch.intent.tool_args import MAX_ARGUMENT_CHARS, ToolArgsReader
from langgraph_prefetch.values import Delta, Signal, TextDelta, ToolCallDelta

_LOOK_UP = re.compile(r"look[_ -]?up", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentSettings:
    """What is read ahead, and from which probability on.

    Attributes:
        threshold: P(search) from which a clause counts as a search directive, in [0, 1].
        min_probability: guesses less likely than this to be the exact query are not made, in [0, 1].
        max_guesses: most guesses for one model call.
        max_argument_chars: longer tool-call arguments are not read ahead.
        cues: the words which say that a search is coming.
        sealed: read tool calls whose JSON arguments have closed.
        reasoning: guess queries from the running text.
        textual: read actions and query tags written in the text.
    """

    threshold: float = 0.7
    min_probability: float = 0.12
    max_guesses: int = 3
    max_argument_chars: int = MAX_ARGUMENT_CHARS
    cues: CueSet = field(default_factory=default_cues)
    sealed: bool = True
    reasoning: bool = True
    textual: bool = True

    def __post_init__(self) -> None:
        for name in ("threshold", "min_probability"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigurationError(f"{name} must be in [0, 1], not {getattr(self, name)!r}")
        for name in ("max_guesses", "max_argument_chars"):
            if getattr(self, name) < 0:
                raise ConfigurationError(f"{name} must not be negative, not {getattr(self, name)!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentContext:
    """What is known before the model's message starts.

    Attributes:
        question: what the user asked.
        earlier_queries: the run's search queries so far, oldest first; they show how this agent writes queries.
        tools: the names of the agent's tools, if known. "Look up" means a search in an agent without a look-up tool.
    """

    question: str = ""
    earlier_queries: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()


class IntentReader:
    """Reads one model message and yields what it makes certain. Not thread-safe; no clock, no I/O.

    Text and reasoning are one text, in order of arrival; offsets of guesses count its characters, think tags left out.
    """

    __slots__ = ("_actions", "_arguments", "_guesser", "_length", "_query_tags", "_settings", "_think_tags")

    def __init__(self, settings: IntentSettings, context: IntentContext) -> None:
        self._settings = settings
        self._length = 0
        self._think_tags = ThinkTagSplitter()
        self._arguments = ToolArgsReader(settings.max_argument_chars)
        self._actions = ActionReader()
        self._query_tags = QueryTagReader()
        self._guesser = Guesser(
            settings.cues,
            Habit(
                context.question,
                context.earlier_queries,
                looks_up=not context.tools or any(_LOOK_UP.search(name) for name in context.tools),
            ),
            threshold=settings.threshold,
            min_probability=settings.min_probability,
            max_guesses=settings.max_guesses,
        )

    @property
    def length(self) -> int:
        """Characters of text and reasoning read so far."""
        return self._length

    def feed(self, delta: Delta) -> tuple[Signal, ...]:
        """Signals that ``delta`` made certain, oldest first."""
        if isinstance(delta, ToolCallDelta):
            call = self._arguments.feed(delta) if self._settings.sealed else None
            return () if call is None else (call,)
        if not isinstance(delta, TextDelta):
            return self._read(delta.text)
        spans = self._think_tags.feed(delta.text)
        if len(spans) == 1:
            return self._read(spans[0].text)
        return tuple(signal for span in spans for signal in self._read(span.text))

    def finish(self) -> tuple[Signal, ...]:
        """The model's message has ended: what only a following word could still have changed is certain now."""
        signals = [signal for span in self._think_tags.finish() for signal in self._read(span.text)]
        if self._settings.textual:
            signals.extend(self._actions.finish())
        if self._settings.reasoning:
            signals.extend(self._guesser.finish())
        return tuple(signals)

    def _read(self, text: str) -> tuple[Signal, ...]:
        self._length += len(text)
        signals: tuple[Signal, ...] = ()
        if self._settings.textual:
            signals = self._actions.feed(text) + self._query_tags.feed(text)
        if self._settings.reasoning:
            signals += tuple(self._guesser.feed(text))
        return signals
