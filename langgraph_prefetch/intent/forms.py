"""The forms in which an object may come back as a query: with or without quotes, of a pair one or both, and so on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from langgraph_prefetch.intent.cues import Grammar
from langgraph_prefetch.intent.objects import QUOTATION, in_brackets, lead_end, quotation_end

_SEPARATOR = re.compile(r"(?:,?\s(?:and|or)|,)\s(?=(?:the\s|a\s|an\s)?[\"“'‘A-Z0-9])")
_NAME_START = re.compile(r"[\"“‘']?(?:(?![\d_a-zß-öø-ÿ])\w|\d)")
_CAPITAL = re.compile(r"(?<=\s)(?:[\"“]|(?![\d_])[^\W\d_a-zß-öø-ÿ]|\d)")
_CONNECTED = r"(?:of|the|in|and|for|de|la|von|van|to|on)(?=\s(?:(?:the|in)\s)?[A-Z0-9])"
_MENTION = re.compile(
    rf"[\"“][^\"”]+[\"”]|(?!(?:I|It|To|So|This|However|But)\b|The\s[a-z])[A-ZÀ-ÖØ-Þ0-9][\w.'’&-]*"
    rf"(?:\s{_CONNECTED}|\s[A-ZÀ-ÖØ-Þ0-9(][\w.'’&()-]*)*"
)
_OWNED = re.compile(r"([A-Z].*)['’]s?\s(?=[a-z])")
_BRACKETED_END = re.compile(r"\s\([^)]*\)\Z")


class Form(StrEnum):
    """How a candidate was cut out of its object."""

    WHOLE = "whole"
    """The object as it stands."""
    QUOTED = "quoted"
    """A quotation, quotes kept."""
    UNQUOTED = "unquoted"
    """A quotation, quotes dropped."""
    OF_KIND = "of_kind"
    """"the film **Alien**"."""
    INSIDE = "inside"
    """A description with a name in it: "**capital of France**"."""
    MENTION = "mention"
    """The name inside a description, or behind "such as"."""
    BEFORE = "before"
    """The name that "it" or "this film" stands for."""
    FIRST = "first"
    """The first of two."""
    SECOND = "second"
    """The second of two."""
    PAIR = "pair"
    """Two parts which may be one name: "**Romeo and Juliet**"."""
    JOINED = "joined"
    """Two parts without "and" between them."""
    PLACE = "place"
    """"**Paris, Texas**"."""
    ITEM = "item"
    """One of three."""
    LONG_LIST = "long_list"
    """One of more than three."""
    UNOWNED = "unowned"
    """"Bach's works" as "**Bach works**"."""
    HISTORY = "history"
    """An earlier query of the run that says nearly the same, or that a vague object may stand for."""
    CLAUSE = "clause"
    """The object of a Korean, Chinese or Japanese clause."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible query.

    ``end`` is its end in the object's text, in characters; ``one_name`` says of one of a pair, or of the pair, that
    the two may be one name.
    """

    text: str
    form: Form
    end: int
    one_name: bool = False


def early_candidates(text: str, grammar: Grammar) -> list[Candidate]:
    """Candidates that are certain although the object goes on: the first of two full names."""
    if " and " not in text and " or " not in text:
        return []
    found = next(_separators(text, grammar), None)
    if found is None or "," in found.group():
        return []
    first = _body(text[: found.start()], grammar)
    if _may_be_one_name(first) or not _NAME_START.match(first) or first[0] in '"“':
        return []
    return [Candidate(first, Form.FIRST, found.start())]


def candidates(text: str, grammar: Grammar, *, known: Callable[[str], bool], past: str) -> list[Candidate]:
    """Candidates of a finished object, the likeliest form first.

    ``known`` says whether a text has been seen as it stands, so that a title with commas is told from a list.
    ``past`` is the text before the directive, where "it" finds its name.
    """
    text = text.rstrip(" ,;:")
    whole = _body(text, grammar)
    if not any(map(str.isalnum, whole)):
        return []
    if (found := re.search(r"\b(?:such as|called|named|titled|nicknamed)\s", text)) is not None:
        named = candidates(text[found.end() :], grammar, known=known, past="")
        return [Candidate(each.text, Form.MENTION, len(text)) for each in named[:2]]
    if vague(whole, grammar):
        return _before(past, len(text), grammar) if _refers_back(whole) else []
    separators = list(_separators(text, grammar))
    if not separators or (known(_BRACKETED_END.sub("", whole)) and len(separators) > 1):
        return _single(whole, len(text), grammar)
    ends = [*(found.start() for found in separators), len(text)]
    starts = [0, *(found.end() for found in separators)]
    items = [Candidate(_body(text[a:b], grammar), Form.ITEM, b) for a, b in zip(starts, ends, strict=True)]
    if len(items) > 2:
        form = Form.ITEM if len(items) == 3 else Form.LONG_LIST
        return [replace(item, form=form) for item in items if item.text]
    return _pair(whole, items[0], items[1], is_place=separators[0].group() == ", ", grammar=grammar)


def mentions(text: str, grammar: Grammar) -> list[Candidate]:
    """The last name in a description: "that has a score by **Jo Doe**"."""
    found = list(_MENTION.finditer(text))
    if not found:
        return []
    name, end = found[-1].group().rstrip(".,'’"), found[-1].end()
    return [Candidate(each.text, Form.MENTION, end) for each in _single(name, end, grammar)]


def vague(text: str, grammar: Grammar) -> bool:
    """Whether an object names nothing: "it", "these results", "more about his life"."""
    return text.split(maxsplit=1)[0] in grammar.vague


def _refers_back(text: str) -> bool:
    return re.fullmatch(r"it|him|her|them|(?:this|that)(?: [a-z]+){0,2}", text) is not None


def _before(past: str, end: int, grammar: Grammar) -> list[Candidate]:
    return [replace(each, form=Form.BEFORE, end=end) for each in mentions(past, grammar)]


def _pair(whole: str, first: Candidate, second: Candidate, *, is_place: bool, grammar: Grammar) -> list[Candidate]:
    end = second.end
    if is_place and _NAME_START.match(whole):
        return [Candidate(whole, Form.PLACE, end)]
    if is_place:
        return [replace(each, form=Form.MENTION) for each in _single(second.text, end, grammar)]
    one_name = _may_be_one_name(first.text, second.text)
    apart = [
        replace(each, form=Form.FIRST, one_name=one_name) if each.form is Form.WHOLE else each
        for each in _single(first.text, first.end, grammar)
    ]
    if _NAME_START.match(first.text):
        apart.append(Candidate(second.text, Form.SECOND, end))
    return [
        Candidate(whole, Form.PAIR, end, one_name),
        *apart,
        Candidate(f"{first.text} {second.text}", Form.JOINED, end),
    ]


def _may_be_one_name(first: str, second: str = "") -> bool:
    """Whether "first and second" may be one: "Wolf and Sheep", "James VI and I", "Ann Lee and Sue Lee"."""
    words, others = first.split(), second.split()
    if len(words) < 2 or words[0] in ("The", "A", "An"):
        return True
    return bool(others) and (len(second) <= 2 or (len(others) > 1 and words[-1] == others[-1]))


def _single(text: str, end: int, grammar: Grammar) -> list[Candidate]:
    if not text or vague(text, grammar):
        return []
    whole = Candidate(text, Form.WHOLE, end)
    if (quoted := QUOTATION.match(text)) is not None:
        return _quotation(text, quoted, end)
    opening = re.search(r"(?<=\s)[\"“]", text)
    if opening is not None and text[-1] in '"”' and len(text[: opening.start()].split()) <= 3:
        return [*_single(text[opening.start() :], end, grammar), replace(whole, form=Form.INSIDE)]
    if _NAME_START.match(text):
        owned = _OWNED.match(text)
        return [whole, Candidate(f"{owned[1]} {text[owned.end() :]}", Form.UNOWNED, end)] if owned else [whole]
    if (name := _CAPITAL.search(text)) is None:
        return [whole]
    kind = text[: name.start()].split()
    if len(kind) <= 3 and kind[-1].rstrip(",") in grammar.kinds:
        named = _single(text[name.start() :], end, grammar)
        return [*(replace(each, form=Form.OF_KIND) for each in named), replace(whole, form=Form.INSIDE)]
    return [replace(whole, form=Form.INSIDE)]


def _quotation(text: str, quoted: re.Match[str], end: int) -> list[Candidate]:
    inner = quoted.group()[1:-1].strip().rstrip(",.")
    kept = [Candidate(f'"{inner}"', Form.QUOTED, end)] if text[0] in '"“' else []
    rest = text[quoted.end() :].strip()
    if not rest:
        return [*kept, Candidate(inner, Form.UNQUOTED, end)]
    return [Candidate(text, Form.WHOLE, end), *(kept if rest.islower() and len(rest.split()) <= 2 else [])]


def _body(text: str, grammar: Grammar) -> str:
    return text[lead_end(text, grammar) :].strip().rstrip(",;:").strip("*_ ")


def _separators(text: str, grammar: Grammar) -> Iterator[re.Match[str]]:
    for found in _SEPARATOR.finditer(text, quotation_end(text, grammar) or 0):
        if not in_brackets(text, found.start()) and text.count('"', 0, found.start()) % 2 == 0:
            yield found
