"""Search directives of an English text, read incrementally: "I need to search for **X and Y**, then …"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from langgraph_prefetch.intent.cues import Grammar
from langgraph_prefetch.intent.detector import Detector, Evidence
from langgraph_prefetch.intent.objects import object_end

_BREAK = re.compile(r"[\s.,;:!?…\"“”`()*]")
_PIECE = 1_024
_MAX_SENTENCE = 800
_MAX_PAST = 600
_MAX_CLAUSE = 300


@dataclass(frozen=True, slots=True)
class Reading:
    """The object of a directive as far as it has been read.

    Attributes:
        evidence: the clause's evidence.
        text: the object, from behind the search cue on.
        offset: where ``text`` starts in the message, in characters.
        finished: whether the object has ended; until then ``text`` only grows.
        described: whether the object goes on in a relative clause: "the film **that** …".
        past: the text before the directive, at least the sentence before.
    """

    evidence: Evidence
    text: str
    offset: int
    finished: bool
    past: str = ""
    described: bool = False


class DirectiveReader:
    """Finds directives while the text streams; every character is looked at a bounded number of times.

    Only one sentence is kept, and some text before it. Words in code or quotation marks never open a directive.
    """

    __slots__ = (
        "_base",
        "_detector",
        "_fence",
        "_grammar",
        "_last_words",
        "_open",
        "_past",
        "_quoted",
        "_read",
        "_text",
        "_threshold",
        "_word",
    )

    def __init__(self, detector: Detector, grammar: Grammar, threshold: float) -> None:
        self._detector = detector
        self._grammar = grammar
        self._threshold = threshold
        self._last_words = detector.last_words(threshold)
        self._text = self._past = ""
        self._base = self._read = self._word = 0
        self._open: tuple[Evidence, int] | None = None
        self._quoted = self._fence = False

    def feed(self, text: str) -> Iterator[Reading]:
        """Readings which ``text`` made longer or finished, in order."""
        for start in range(0, len(text), _PIECE):
            self._text += text[start : start + _PIECE]
            yield from self._advance(final=False)

    def finish(self) -> Iterator[Reading]:
        """The text has ended."""
        self._text += "\n"
        yield from self._advance(final=True)

    def _advance(self, *, final: bool) -> Iterator[Reading]:
        while True:
            if self._open is not None:
                reading = self._read_object(*self._open, final=final)
                yield reading
                if not reading.finished:
                    return
                self._open = None
                continue
            found = _BREAK.search(self._text, self._read)
            if found is None:
                self._bound()
                return
            at = found.start()
            word = self._text[self._word : at]
            self._read = self._word = at + 1
            if word and word.lower() in self._last_words and (evidence := self._judge(at)) is not None:
                self._open = evidence, at
            elif found.group().isspace():
                self._end_sentence(at)

    def _judge(self, at: int) -> Evidence | None:
        if self._fence or self._in_code(at) or self._in_quotes(at):
            return None
        start = max(0, at - _MAX_CLAUSE)
        evidence = self._detector.at_end(self._text[start:at])
        if evidence is None or evidence.probability < self._threshold:
            return None
        return replace(evidence, intent=start + evidence.intent)

    def _read_object(self, evidence: Evidence, start: int, *, final: bool) -> Reading:
        text = self._text[start:]
        end = object_end(text, self._grammar, final=final)
        if end is None:
            return Reading(evidence, text, self._base + start, finished=False)
        self._read = self._word = start + end
        rest = text[end : end + 12].split(maxsplit=1)
        return Reading(
            evidence,
            text[:end],
            self._base + start,
            finished=True,
            past=self._past + self._text[: evidence.intent],
            described=bool(rest) and rest[0] in self._grammar.relative,
        )

    def _in_code(self, at: int) -> bool:
        return self._text.startswith("```") or self._text.count("`", 0, at) % 2 == 1

    def _in_quotes(self, at: int) -> bool:
        straight = self._text.count('"', 0, at) + self._quoted
        return straight % 2 == 1 or self._text.rfind("“", 0, at) > self._text.rfind("”", 0, at)

    def _end_sentence(self, at: int) -> None:
        newline = self._text[at] == "\n"
        if not newline and not self._text[:at].rstrip("\"'”’)]*").endswith((".", "!", "?", "…")):
            return
        sentence = self._text[: at + 1]
        if newline and sentence.lstrip().startswith("```"):
            self._fence = not self._fence
        # A quotation may hold several sentences, but an odd quote must not silence the rest of the message.
        self._quoted = not newline and (sentence.count('"') + self._quoted) % 2 == 1
        self._past = (self._past + sentence)[-_MAX_PAST:]
        self._drop(at + 1)

    def _bound(self) -> None:
        if len(self._text) > _MAX_SENTENCE:
            self._drop(len(self._text) - _MAX_SENTENCE // 2)

    def _drop(self, count: int) -> None:
        self._base += count
        self._text = self._text[count:]
        self._read = max(0, self._read - count)
        self._word = max(0, self._word - count)
