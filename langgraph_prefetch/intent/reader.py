"""The room's front: one `IntentReader` for each model call turns deltas into guesses and sealed calls."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.intent.actions import ActionReader
from langgraph_prefetch.intent.cues import CueSet, default_cues
from langgraph_prefetch.intent.detector import detectors
from langgraph_prefetch.intent.objects import read_object
from langgraph_prefetch.intent.queries import clean
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
    min_probability: float = 0.0
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


_BREAK = re.compile(r"[\s.,;:!?\"“”`]")


class IntentReader:
    """Reads one model message. Not thread-safe; no clock, no I/O."""

    def __init__(self, settings: IntentSettings, context: IntentContext) -> None:
        self._settings = settings
        self._context = context
        self._tags = ThinkTagSplitter()
        self._arguments = ToolArgsReader()
        self._actions = ActionReader()
        self._query_tags = QueryTagReader()
        self._guesser = _Guesser(settings, context)

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


class _Guesser:
    def __init__(self, settings: IntentSettings, context: IntentContext) -> None:
        self._s = settings
        self._det = detectors(settings.cues)["en"]
        self._text = ""
        self._base = 0
        self._pos = 0
        self._word = 0
        self._open = None
        self._made: set[str] = set()
        self._n = 0

    def feed(self, text: str) -> list[Guess]:
        out: list[Guess] = []
        for i in range(0, len(text), 1024):
            self._text += text[i : i + 1024]
            self._run(out, False)
        return out

    def finish(self) -> list[Guess]:
        out: list[Guess] = []
        self._text += "\n"
        self._run(out, True)
        return out

    def _run(self, out: list[Guess], final: bool) -> None:
        while True:
            if self._open is not None:
                ev, start, n = self._open
                r = read_object(self._text[start:], final=final)
                for p in r.parts[n:]:
                    self._emit(ev, p, r, out)
                if r.end is None:
                    self._open = (ev, start, len(r.parts))
                    return
                self._open = None
                self._pos = self._word = start + r.end
                continue
            found = _BREAK.search(self._text, self._pos)
            if found is None:
                break
            at = found.start()
            word = self._text[self._word : at].lower()
            if word in self._det.last_words:
                ev = self._det.at_end(self._text[:at])
                if ev is not None and ev.probability >= self._s.threshold and self._text.count('"', 0, at) % 2 == 0:
                    self._open = (ev, at, 0)
            self._pos = self._word = at + 1
            c = self._text[at]
            if c == "\n" or (c.isspace() and at and self._text[at - 1] in ".!?"):
                self._base += at + 1
                self._text = self._text[at + 1 :]
                self._pos = self._word = 0
                if self._open: self._open = None
        if len(self._text) > 2000:
            cut = len(self._text) - 1000
            self._base += cut
            self._text = self._text[cut:]
            self._pos = max(0, self._pos - cut)
            self._word = max(0, self._word - cut)

    def _emit(self, ev, part, r, out) -> None:
        q = clean(part.text)
        if not q or q in self._made or self._n >= self._s.max_guesses:
            return
        self._made.add(q)
        self._n += 1
        out.append(Guess(query=q, probability=ev.probability, cue=ev.cue, end=self._base + part.end))
