"""The room's front: one `IntentReader` for each model call turns deltas into guesses and sealed calls."""

from __future__ import annotations

from dataclasses import dataclass, field

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.intent.actions import ActionReader
from langgraph_prefetch.intent.cues import CueSet, default_cues
from langgraph_prefetch.intent.likelihood import Habit
from langgraph_prefetch.intent.queries import Guesser
from langgraph_prefetch.intent.query_tags import QueryTagReader
from langgraph_prefetch.intent.think_tags import ThinkTagSplitter
from langgraph_prefetch.intent.tool_args import ToolArgsReader
from langgraph_prefetch.values import Delta, Guess, SealedCall, Signal, TextDelta, ToolCallDelta


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentSettings:
    """What is read ahead, and from which probability on.

    Attributes:
        threshold: P(search) from which a clause counts as a search directive, in [0, 1].
        min_probability: guesses less likely than this to be the exact query are not made.
        max_guesses: most guesses for one model call.
        cues: the words which say that a search is coming.
        sealed: read tool calls whose JSON arguments have closed.
        reasoning: guess queries from the running text.
        textual: read actions and query tags written in the text.
    """

    threshold: float = 0.7
    min_probability: float = 0.1
    max_guesses: int = 3
    cues: CueSet = field(default_factory=default_cues)
    sealed: bool = True
    reasoning: bool = True
    textual: bool = True

    def __post_init__(self) -> None:
        for name in ("threshold", "min_probability"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigurationError(f"{name} must be in [0, 1], not {getattr(self, name)!r}")
        if self.max_guesses < 0:
            raise ConfigurationError(f"max_guesses must not be negative, not {self.max_guesses!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentContext:
    """What is known before the model's message starts."""

    question: str = ""
    earlier_queries: tuple[str, ...] = ()


class IntentReader:
    """Reads one model message. Not thread-safe; no clock, no I/O."""

    def __init__(self, settings: IntentSettings, context: IntentContext) -> None:
        self._settings = settings
        self._context = context
        self._tags = ThinkTagSplitter()
        self._arguments = ToolArgsReader()
        self._actions = ActionReader()
        self._query_tags = QueryTagReader()
        self._guesser = Guesser(
            settings.cues,
            Habit(context.question, context.earlier_queries),
            threshold=settings.threshold,
            min_probability=settings.min_probability,
            max_guesses=settings.max_guesses,
        )

    def feed(self, delta: Delta) -> tuple[Signal, ...]:
        """Signals that ``delta`` made certain, oldest first."""
        if isinstance(delta, ToolCallDelta):
            call = self._arguments.feed(delta) if self._settings.sealed else None
            return (call,) if call is not None else ()
        if isinstance(delta, TextDelta):
            signals: list[Signal] = []
            for span in self._tags.feed(delta.text):
                signals.extend(self._read(span.text))
            return tuple(signals)
        return self._read(delta.text)

    def finish(self) -> tuple[Signal, ...]:
        """The model's message has ended: what only a following word could have changed is now certain."""
        signals: list[Signal] = []
        for span in self._tags.finish():
            signals.extend(self._read(span.text))
        if self._settings.textual:
            signals.extend(self._actions.finish())
        if self._settings.reasoning:
            signals.extend(self._guesser.finish())
        return tuple(signals)

    def _read(self, text: str) -> tuple[Signal, ...]:
        calls: tuple[SealedCall, ...] = ()
        if self._settings.textual:
            calls = self._actions.feed(text) + self._query_tags.feed(text)
        if not self._settings.reasoning:
            return calls
        return calls + tuple(self._guesser.feed(text))



