"""Where the object of an English search directive ends: "search for **A and B**, then compare them"."""

from __future__ import annotations

import re
from functools import cache

from langgraph_prefetch.intent.cues import Grammar

MAX_OBJECT_CHARS = 200
"""A longer object is no query: what has been copied from elsewhere must not steer a search."""

QUOTATION = re.compile(r"\"[^\"]+\"|“[^”]+”|[‘'`](?=\w|[‘'])(?:[^'’`]|['’](?=\w))+['’`](?!\w)")
_OPENING = "\"“‘'`"
_INITIALS = re.compile(r"(?:[A-Za-z]\.)*[A-Za-z]")
_LAST_WORD = re.compile(r"[\w.]+\Z")


def object_end(text: str, grammar: Grammar, *, final: bool) -> int | None:
    """Where the object that ``text`` starts with ends, in characters; None while it may go on.

    An object ends at punctuation that ends a clause, or where a new clause starts: ", find", " and see if",
    " to check". Those are told from the inside of a name ("From Here to Eternity", "Pride and Prejudice") by their
    case, so the beginning of the next words has to be known. ``final`` says that nothing follows.
    """
    start = quotation_end(text, grammar)
    if start is None:
        return len(text) if final or len(text) > MAX_OBJECT_CHARS else None
    for found in _cut(grammar).finditer(text, start):
        at = found.start()
        if not text[:at].strip() or in_brackets(text, at):
            continue
        if text[at] != "." or not _is_abbreviation(text, at, grammar):
            return at
    return len(text) if final or len(text) > MAX_OBJECT_CHARS else None


def quotation_end(text: str, grammar: Grammar) -> int | None:
    """End of the quotation that ``text`` starts with, after lead words; 0 if there is none, None while it is open."""
    at = lead_end(text, grammar)
    if at >= len(text) or text[at] not in _OPENING:
        return 0
    found = QUOTATION.match(text, at)
    if found is not None:
        return found.end()
    return None if text[at] in '"“' else 0


def lead_end(text: str, grammar: Grammar) -> int:
    """Where the query itself starts, behind "for", "information about", "the"."""
    found = _lead(grammar).match(text)
    return found.end() if found else 0


def in_brackets(text: str, at: int) -> bool:
    """Whether ``at`` stands inside round brackets, as in "Foo (actor, singer)"."""
    return text.rfind("(", 0, at) > text.rfind(")", 0, at) and text[at] != "\n"


def alternatives(words: tuple[str, ...]) -> str:
    """A regular expression for any of ``words``, the longest first; for none of them it matches nothing."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True)) or "(?!)"


@cache
def _lead(grammar: Grammar) -> re.Pattern[str]:
    lead, article = alternatives(grammar.lead), alternatives(grammar.article)
    return re.compile(rf"\s*(?:(?:{lead})\s+)*(?:(?:{article})\s+)?")


@cache
def _cut(grammar: Grammar) -> re.Pattern[str]:
    joint = r",?\s(?:and\s(?:also\s|then\s)?|to\s|or\s)"
    noun = r"(?!(?:the|a|an|of|or|and)\b|(?:t|th|a|o)\Z)"
    return re.compile(
        rf",?\s(?:{alternatives(grammar.cut)})(?=[\s,.;:!?])"
        rf"|,?\s(?:{alternatives(grammar.adverbs)})(?=\s*(?:[.,;:!?]|(?:and|to|then|or|so|because|for)\s|\n))"
        rf"|{joint}(?:{alternatives(grammar.follow)})(?=[\s.,;!?])"
        rf"|{joint}{noun}(?=[a-z]+\s(?!of\b|o\Z)[\w\"“'])"
        rf"|,\s{noun}(?=[a-z])"
        r"|,?\sand\s(?:the|a|an)\s(?=[a-z])"
        r"|,\s(?:the|a|an)\s(?=[a-z]|[A-Z]\S+\s[a-z])"
        r"|:\s(?=[^A-Z0-9])|[;!?…](?=\s)|\n|\s[-–—]\s"
        r"|\.(?=[\"'”’)\]*]*\s)"
    )


def _is_abbreviation(text: str, dot: int, grammar: Grammar) -> bool:
    found = _LAST_WORD.search(text, max(0, dot - 12), dot)
    if found is None:
        return False
    word = found.group()
    if word.lower() in grammar.abbreviations:
        return True
    standing = found.start() == 0 or text[found.start() - 1].isspace()
    return standing and word.isupper() and _INITIALS.fullmatch(word) is not None
