"""The user's own words, taken out of what an agent says it thinks: a trace may repeat them."""

from __future__ import annotations

import re

from langgraph_prefetch.intent.reader import IntentContext, IntentReader, IntentSettings
from langgraph_prefetch.values import ReasoningDelta

MAX_SENTENCES, MAX_SENTENCE_CHARS, MIN_WORDS = 40, 2_000, 2
CUT = " … "

_SENTENCE_END = re.compile(r"(?<=[.!?。!?])\s+|[\n;]+")


class OwnWords:
    """Cuts from a text those sentences of the user's that would be read as an intent if the agent had said them.

    Other words of the user's stay: an agent that needs to search for what was asked says so in the same words.

    Args:
        settings: how intents are read.
        question: the user's words.
    """

    def __init__(self, settings: IntentSettings, question: str) -> None:
        sentences = _SENTENCE_END.split(question)[:MAX_SENTENCES]
        orders = [each[:MAX_SENTENCE_CHARS].strip(" .!?\"'“”") for each in sentences if _reads(settings, each)]
        # Longest first: a short sentence may be a part of a long one.
        words = sorted((each.split() for each in orders if len(each.split()) >= MIN_WORDS), key=len, reverse=True)
        patterns = [r"\s+".join(map(re.escape, each)) for each in words]
        self._orders = re.compile("|".join(patterns), re.IGNORECASE) if patterns else None

    def cut(self, text: str) -> str:
        """``text`` without them."""
        return text if self._orders is None else self._orders.sub(CUT, text)


def _reads(settings: IntentSettings, sentence: str) -> bool:
    reader = IntentReader(settings, IntentContext())
    return bool(reader.feed(ReasoningDelta(f"{sentence[:MAX_SENTENCE_CHARS]}.\n"))) or bool(reader.finish())
