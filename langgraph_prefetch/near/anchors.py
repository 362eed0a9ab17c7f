"""Around which texts to fetch while the model thinks. Pure: text in, anchor texts out.

One reader for each model call. Anchors, in the order of their worth at the end of a thought:

1. the question (once a run: its list serves every step),
2. the thought so far,
3. the guessed queries and the names it speaks of, the latest first, in turn,
4. its last sentence, its last clause, and its first half (what it was about before it went on).

While the thought is being written, at every border of a clause, the thought so far, guesses and names are offered
already, as long as that leaves ``RESERVED`` fetches for its end. Whoever fetches asks
:meth:`~langgraph_prefetch.near.surroundings.Surroundings.moves` before each, and :meth:`AnchorReader.fetched` after it:
an anchor that has hardly moved costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from langgraph_prefetch.near.names import names

AnchorKind = Literal["question", "thought", "guess", "name", "sentence", "clause", "half"]

RESERVED = 3
MAX_TEXT = 8_000
_BORDER = re.compile(r"[.!?;:,](?=\s)|[。！？；，、\n]")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_CLAUSE = re.compile(r"(?<=[.!?;:,])\s+|(?<=[。！？；，、])|\n+")
_MIN_CHARS = 2
_MAX_NAMES = 6


@dataclass(frozen=True, slots=True)
class Anchor:
    """A text to fetch around."""

    kind: AnchorKind
    text: str


class AnchorReader:
    """Reads one model message.

    Args:
        question: what the user asked; empty if it has been an anchor of this run.
        most: fetches of this step at most.
    """

    __slots__ = ("_guesses", "_left", "_offered", "_question", "_text")

    def __init__(self, question: str, most: int) -> None:
        self._question, self._left = question.strip(), most
        self._text = ""
        self._guesses: dict[str, None] = {}
        self._offered: set[str] = set()

    @property
    def left(self) -> int:
        """Fetches that may still be made."""
        return self._left

    def fetched(self) -> None:
        """One of the offered anchors was fetched."""
        self._left -= 1

    def spared(self) -> None:
        """One that was counted as fetched was not needed after all."""
        self._left += 1

    def begin(self) -> Iterator[Anchor]:
        """The anchors before the first word."""
        yield from self._offer([Anchor("question", self._question)], reserve=0)

    def guessed(self, query: str) -> None:
        """The running text makes ``query`` likely."""
        self._guesses.pop(query, None)
        self._guesses[query] = None

    def read(self, text: str) -> Iterator[Anchor]:
        """Anchors to fetch now that ``text`` has been added. Take one after the other: each looks at what is left."""
        self._text = (self._text + text)[-MAX_TEXT:]
        # A mark is a border only together with the white space behind it, hence the step back.
        if _BORDER.search(self._text, max(0, len(self._text) - len(text) - 1)):
            yield from self._offer(self._early(), reserve=RESERVED)

    def finish(self) -> Iterator[Anchor]:
        """The thought has ended: the action begins, or the message is over."""
        yield from self._offer(self._final(), reserve=0)

    def _early(self) -> list[Anchor]:
        return [*self._spoken_of()[:2], Anchor("thought", self._text.strip())]

    def _final(self) -> list[Anchor]:
        thought = self._text.strip()
        words = thought.split()
        parts = [
            Anchor("sentence", _last(_SENTENCE, thought)),
            Anchor("clause", _last(_CLAUSE, thought)),
            Anchor("half", " ".join(words[: len(words) // 2])),
        ]
        spoken = self._spoken_of()
        return [Anchor("thought", thought), *spoken[:2], parts[0], *spoken[2:4], parts[1], *spoken[4:], parts[2]]

    def _spoken_of(self) -> list[Anchor]:
        """Guesses and names in turn, the latest first."""
        guesses = [Anchor("guess", each) for each in reversed(self._guesses)]
        said = [Anchor("name", each) for each in reversed(names(self._text)[-_MAX_NAMES:])]
        return [each for pair in zip_longest(guesses, said) for each in pair if each is not None]

    def _offer(self, anchors: list[Anchor], *, reserve: int) -> Iterator[Anchor]:
        for anchor in anchors:
            if self._left <= reserve:
                return
            if len(anchor.text) >= _MIN_CHARS and anchor.text not in self._offered:
                self._offered.add(anchor.text)
                yield anchor


def _last(border: re.Pattern[str], text: str) -> str:
    parts = [part.strip() for part in border.split(text)]
    return next((part for part in reversed(parts) if part), "")
