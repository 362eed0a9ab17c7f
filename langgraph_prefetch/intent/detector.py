"""P(search): is the model about to search, judged from the clause it is writing?

The clause's cues are taken as independent pieces of evidence and combined by a noisy-OR (Pearl, *Probabilistic
Reasoning in Intelligent Systems*, 1988, section 4.3.2), with the cues against as inhibitors of the same form::

    P(search) = (1 - prod(1 - w_i)) * prod(1 - v_j)

where ``w_i`` are the weights of the intent and search cues present and ``v_j`` those of the cues against. No single
cue of the package reaches the default threshold of 0.7: the bare word "search" never fires.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from langgraph_prefetch.intent.cues import LANGUAGES, Cue, CueSet, Role, grammar

_CLAUSE_START = re.compile(r"[,;:—–]\s|\s(?:but|so|because|although|though|and)\s|[。，、；：！？]")
_SINGLE_QUOTED = re.compile(r"(?:^|[\s(])[‘'](?:[^'’]|['’](?=\w))*\Z")
_QUOTATION = re.compile(r"\"[^\"]*\"|“[^”]*”")
_MAX_GAP_WORDS = 3
_MAX_GAP_CHARS = 80
_MAX_EASTERN_GAP = 10
_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a clause says about a coming search.

    ``cue`` names the intent cue and ``verb`` the search cue. ``intent`` is where the intent cue starts, ``start`` and
    ``end`` bound the search cue, all in characters of the text judged.
    """

    probability: float
    cue: str
    verb: str
    intent: int
    start: int
    end: int


class Detector:
    """The cues of one language, compiled. Get one from `detectors`, which makes each once."""

    __slots__ = (
        "_against",
        "_cues",
        "_intent",
        "_pardon",
        "_search",
        "_search_at_end",
        "_strongest",
        "_words",
        "verb_first",
    )

    def __init__(self, language: str, cues: CueSet) -> None:
        own = [cue for cue in cues.cues if cue.language == language]
        whole_words = language == "en"
        self.verb_first = grammar(language).order == "verb_object"

        def compiled(role: Role) -> re.Pattern[str]:
            return _alternation([cue for cue in own if cue.role == role], whole_words=whole_words)

        self._cues = {phrase: cue for cue in own for phrase in cue.phrases}
        self._intent, self._search = compiled("intent"), compiled("search")
        self._against, self._pardon = compiled("against"), compiled("pardon")
        self._search_at_end = re.compile(f"{self._search.pattern}\\Z")
        self._words: dict[float, frozenset[str]] = {}
        self._strongest = max((cue.weight for cue in own if cue.role == "intent"), default=0.0)

    def last_words(self, threshold: float) -> frozenset[str]:
        """The words that a search cue may end with, of the cues that can reach ``threshold`` at all."""
        words = self._words.get(threshold)
        if words is None:
            words = self._words[threshold] = frozenset(
                phrase.split()[-1]
                for phrase, cue in self._cues.items()
                if cue.role == "search" and 1 - (1 - cue.weight) * (1 - self._strongest) >= threshold
            )
        return words

    def at_end(self, text: str) -> Evidence | None:
        """The directive whose search cue ends ``text``, the sentence so far. For languages with the verb first."""
        lowered = _QUOTATION.sub(_blank, lower(text)) if '"' in text or "“" in text else lower(text)
        search = self._search_at_end.search(lowered, max(0, len(lowered) - 60))
        if search is None or _SINGLE_QUOTED.search(lowered, 0, search.start()):
            return None
        near = max(0, search.start() - _MAX_GAP_CHARS)
        intents = list(self._intent.finditer(lowered, near, search.start() + 1))
        if not intents or intents[-1].end() > search.start():
            return None
        intent = intents[-1]
        gap = text[intent.end() : search.start()]
        if len(gap.split()) > _MAX_GAP_WORDS or gap.strip().lower() != gap.strip() or self._search.search(gap):
            return None
        return self._evidence(lowered, intent, search, reach=len(lowered))

    def in_clause(self, text: str, start: int) -> Evidence | None:
        """The directive in ``text[start:]``, a finished clause of the sentence ``text``. For other languages."""
        lowered = lower(text)
        for search in self._search.finditer(lowered, start):
            intents = list(self._intent.finditer(lowered, start))
            if self.verb_first:
                near = [each for each in intents if 0 <= search.start() - each.start() <= _MAX_EASTERN_GAP]
            else:
                near = [each for each in reversed(intents) if each.end() > search.start()]
            if near:
                return self._evidence(lowered, near[-1], search, reach=len(lowered))
        return None

    def _evidence(self, lowered: str, intent: re.Match[str], search: re.Match[str], reach: int) -> Evidence:
        cue, verb = self._cues[intent.group()], self._cues[search.group()]
        kept = self._not_against(lowered, min(intent.start(), search.start()), reach)
        probability = (1 - (1 - cue.weight) * (1 - verb.weight)) * kept
        return Evidence(probability, cue.name, verb.name, intent.start(), search.start(), search.end())

    def _not_against(self, lowered: str, start: int, reach: int) -> float:
        """The product over the cues against of ``1 - v_j``, for the clause around ``start``."""
        clause = 0
        for found in _CLAUSE_START.finditer(lowered, 0, start):
            clause = found.end()
        pardoned = [found.span() for found in self._pardon.finditer(lowered, 0, reach)]
        kept = 1.0
        for found in self._against.finditer(lowered, 0, reach):
            cue = self._cues[found.group()]
            in_reach = cue.scope == "sentence" or found.start() >= clause
            if in_reach and not any(first <= found.start() and found.end() <= last for first, last in pardoned):
                kept *= 1 - cue.weight
        return kept


def _blank(found: re.Match[str]) -> str:
    """Quoted words are no cues; the quotation keeps its length."""
    return f'"{"_" * (len(found.group()) - 2)}"'


def lower(text: str) -> str:
    """Lower case of the same length, so that offsets stay true (``"İ".lower()`` is two characters)."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.translate(_ASCII_LOWER)


def _alternation(cues: Iterable[Cue], *, whole_words: bool) -> re.Pattern[str]:
    phrases = sorted({re.escape(phrase) for cue in cues for phrase in cue.phrases}, key=len, reverse=True)
    joined = "|".join(phrases) or "(?!)"
    return re.compile(rf"(?<![\w'’-])(?:{joined})(?![\w'’-])" if whole_words else f"(?:{joined})")


@cache
def detectors(cues: CueSet) -> dict[str, Detector]:
    """The detector of each language, compiled once for each cue set."""
    return {language: Detector(language, cues) for language in LANGUAGES}
