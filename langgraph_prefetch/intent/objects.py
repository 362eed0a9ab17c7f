"""Where the object of a search directive ends, and what its parts are: "search for **A** and **B**, then compare"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from langgraph_prefetch.intent.cues import grammar

MAX_OBJECT_CHARS = 200
"""An object longer than this is no query; it is dropped (text copied from a result must not steer a search)."""

_ABBREVIATIONS = frozenset("mr mrs ms dr st jr sr vs no vol gen col lt sgt rev hon prof mt ft inc ltd co corp bros dept ed".split())
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]*]*\s|\n")
_OPENING = "\"“‘'`"
_CLOSING = {'"': '"', "“": "”", "‘": "’", "'": "'", "`": "`"}


@dataclass(frozen=True, slots=True)
class Part:
    """One item of an object. ``end`` is its end in the object's text, in characters."""

    text: str
    end: int


@dataclass(frozen=True, slots=True)
class ReadObject:
    """An object as far as it is certain.

    ``parts`` are the items which have ended. ``end`` is where the object ends, None while it may go on.
    ``terminator`` is the text that ended it.
    """

    parts: tuple[Part, ...]
    end: int | None
    terminator: str = ""
    whole: str = ""


def read_object(text: str, *, final: bool) -> ReadObject:
    """Read the object that ``text`` starts with (lead words included); ``final`` when the message has ended."""
    cut = _first_cut(text, final)
    if cut is None:
        if len(text) > MAX_OBJECT_CHARS:
            return ReadObject((), len(text))
        return ReadObject(_parts(text, 0, whole=False), None)
    start, terminator = cut
    return ReadObject(_parts(text[:start], 0, whole=True), start, terminator, text[:start])


@cache
def _cut_pattern() -> re.Pattern[str]:
    words = [re.escape(word) for word in grammar("en").cut if word not in ("and", "to")]
    words.sort(key=len, reverse=True)
    return re.compile(
        rf",?\s+(?:{'|'.join(words)})(?=[\s,.;:!?])"  # ", then", " which"
        r"|,?\s+(?:and|to|also)\s+(?!the\s|a\s|an\s|th?\Z|an?\Z|of\b|o\Z)[a-z]"  # " and find", " to see"
        r"|,\s+(?!the\b|a\b|an\b|and\b|or\b|of\b|an?\Z|and?\Z|or?\Z|th?\Z|the\Z)[a-z]"  # ", find"
        r"|,?\s+and\s+the\s+(?=[a-z])"
        r"|[;:!?…]\s|\n|\s[-–—]\s|\s\("
        r"|\.[\"'”’)\]*]*\s"
    )


def _first_cut(text: str, final: bool) -> tuple[int, str] | None:
    at = 0
    quoted = _leading_quote(text)
    if quoted:
        at = quoted
    for found in _cut_pattern().finditer(text, at):
        if found.group().startswith(".") and _is_abbreviation(text, found.start()):
            continue
        if found.group().lstrip().startswith("(") and not text[found.end() : found.end() + 30].startswith(("e.g", "i.e", "or ")):
            continue
        return found.start(), found.group()
    return (len(text), "") if final else None


def _leading_quote(text: str) -> int:
    """End of the quotation that the object consists of; 0 if there is none, len(text) while it is open."""
    at = len(text) - len(text.lstrip())
    found = re.match(r"(?:for|up|about|on|out|the|a|an|movie|film|song|album|book|\s)*", text)
    at = found.end() if found else at
    if at >= len(text) or text[at] not in _OPENING:
        return 0
    end = text.find(_CLOSING[text[at]], at + 1)
    while end >= 0 and text[at] in "'‘" and end + 1 < len(text) and text[end + 1].isalnum():
        end = text.find(_CLOSING[text[at]], end + 1)
    return end + 1 if end >= 0 else len(text)


def _is_abbreviation(text: str, dot: int) -> bool:
    word = re.search(r"[\w.]*\Z", text[max(0, dot - 12) : dot])
    last = word.group() if word else ""
    return len(last) == 1 and last.isupper() or last.lower() in _ABBREVIATIONS or bool(re.fullmatch(r"(?:[A-Za-z]\.)+[A-Za-z]", last)) and not text[dot + 1 :].lstrip()[:1].isupper()


_SEPARATOR = re.compile(r",?\s+(?:and|or|vs\.?)\s+(?=[\"“'A-Z0-9]|the\s+[A-Z])|,\s+(?=[\"“'A-Z0-9]|the\s+[A-Z])")


def _parts(text: str, start: int, *, whole: bool) -> tuple[Part, ...]:
    pieces: list[Part] = []
    at = 0
    for found in _SEPARATOR.finditer(text, _leading_quote(text)):
        pieces.append(Part(text[at : found.start()], found.start()))
        at = found.end()
    if whole:
        pieces.append(Part(text[at:], len(text)))
    return tuple(pieces)
