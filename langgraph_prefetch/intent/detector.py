"""P(search): is the model about to search, judged from the clause it is writing?

The clause's cues are taken as independent pieces of evidence and combined by a noisy-OR (Pearl, *Probabilistic
Reasoning in Intelligent Systems*, 1988, section 4.3.2), with cues against as inhibitors in the same form::

    P(search) = (1 - prod(1 - w_i)) * prod(1 - v_j)

where ``w_i`` are the weights of the intent and search cues that are present and ``v_j`` those of the cues against.
A search cue alone stays under the default threshold of 0.7, so the bare word "search" never fires.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from langgraph_prefetch.intent.cues import LANGUAGES, Cue, CueSet, grammar

_CLAUSE_START = re.compile(r"[,;:—–]\s|\s(?:but|so|because|although|though|and)\s|[。，、；：！？]")
_GAP_WORDS = 4
_SINGLE_QUOTED = re.compile(r"(?:^|[\s(])[‘'](?:[^'’]|['’](?=\w))*\Z")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a clause says. ``start`` and ``end`` bound the search cue, in characters of the text judged."""

    probability: float
    cue: str
    start: int
    end: int


class Detector:
    """The cues of one language, compiled; `detectors` makes them once for each cue set."""

    __slots__ = ("_against", "_cues", "_intent", "_pardon", "_search", "_search_end", "language", "last_words")

    def __init__(self, language: str, cues: CueSet) -> None:
        own = [cue for cue in cues.cues if cue.language == language]
        by_role = {role: [cue for cue in own if cue.role == role] for role in ("intent", "search", "against", "pardon")}
        self.language = language
        self.last_words = frozenset(phrase.split()[-1] for cue in by_role["search"] for phrase in cue.phrases)
        words = language == "en"
        self._intent = _compiled(by_role["intent"], words)
        self._search = _compiled(by_role["search"], words)
        self._search_end = re.compile(f"(?:{self._search.pattern})\\Z")
        self._against = _compiled(by_role["against"], words)
        self._pardon = _compiled(by_role["pardon"], words)
        self._cues = {phrase: cue for cue in own for phrase in cue.phrases}

    def at_end(self, text: str) -> Evidence | None:
        """The directive that ends with ``text``, which holds the sentence so far; for languages with the verb first."""
        lowered = text.lower()
        found = self._search_end.search(lowered)
        if found is None:
            return None
        intents = [each for each in self._intent.finditer(lowered, 0, found.start() + 1) if each.end() <= found.start()]
        if not intents or _SINGLE_QUOTED.search(text, 0, found.start()):
            return None
        intent = intents[-1]
        gap = lowered[intent.end() : found.start()]
        if len(gap.split()) > _GAP_WORDS or len(gap) > 40:
            return None
        probability = self._combined((intent.group(), found.group()), lowered, intent.start(), len(lowered))
        return Evidence(probability, self._cues[intent.group()].name, found.start(), found.end())

    def _combined(self, present: Iterable[str], lowered: str, start: int, end: int) -> float:
        missing = 1.0
        for phrase in present:
            missing *= 1 - self._cues[phrase].weight
        clause = max((each.end() for each in _CLAUSE_START.finditer(lowered, 0, start)), default=0)
        pardoned = [each.span() for each in self._pardon.finditer(lowered)]
        kept = 1.0
        for each in self._against.finditer(lowered, 0, end):
            cue = self._cues[each.group()]
            reaches = cue.scope == "sentence" or each.start() >= clause
            if reaches and not any(first <= each.start() and each.end() <= last for first, last in pardoned):
                kept *= 1 - cue.weight
        return (1 - missing) * kept


def _compiled(cues: list[Cue], words: bool) -> re.Pattern[str]:
    """One alternation of all phrases, longest first; whole words where the language has them."""
    phrases = sorted({re.escape(phrase) for cue in cues for phrase in cue.phrases}, key=len, reverse=True)
    joined = "|".join(phrases) or "(?!)"
    return re.compile(rf"(?<![\w'’-])(?:{joined})(?![\w'’-])" if words else joined)


@cache
def detectors(cues: CueSet) -> dict[str, Detector]:
    """Detectors of all languages, compiled once for each cue set."""
    return {language: Detector(language, cues) for language in LANGUAGES if grammar(language)}
