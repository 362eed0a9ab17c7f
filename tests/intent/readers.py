"""Ways to feed a text to a reader."""

import itertools
import re
from collections.abc import Iterable

from langgraph_prefetch.intent.reader import IntentContext, IntentReader, IntentSettings
from langgraph_prefetch.values import Guess, SealedCall, Signal, TextDelta

_TOKEN = re.compile(r" ?\w+| ?[^\w\s]+|\s+")


def tokens(text: str) -> list[str]:
    """``text`` cut roughly as models cut it: words with the space before them, and punctuation."""
    return _TOKEN.findall(text)


def cut(text: str, points: Iterable[int]) -> list[str]:
    """``text`` cut at each of ``points``."""
    edges = [0, *sorted(points), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(edges)]


def signals(
    text: str | Iterable[str],
    *,
    question: str = "",
    earlier: tuple[str, ...] = (),
    tools: tuple[str, ...] = (),
    settings: IntentSettings | None = None,
) -> list[Signal]:
    """All signals of a message that streams ``text``, by default cut into tokens."""
    context = IntentContext(question=question, earlier_queries=earlier, tools=tools)
    reader = IntentReader(settings or IntentSettings(), context)
    found = [
        signal
        for piece in (tokens(text) if isinstance(text, str) else text)
        for signal in reader.feed(TextDelta(piece))
    ]
    return [*found, *reader.finish()]


def queries(text: str | Iterable[str], **context: object) -> list[str]:
    """The guessed queries, likeliest or earliest first."""
    return [each.query for each in signals(text, **context) if isinstance(each, Guess)]  # type: ignore[arg-type]


def sealed(text: str | Iterable[str], **context: object) -> list[SealedCall]:
    """The calls written in the text."""
    return [each for each in signals(text, **context) if isinstance(each, SealedCall)]  # type: ignore[arg-type]
