"""Did a tool's result tell the model to search for that? Pure.

A model that repeats such a text has been steered by whoever wrote it. What it then *calls* is between it and the
user's guards; what it merely says is not carried out early.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

BEFORE_CHARS = 160
AFTER_CHARS = 40

_VERBS = r"(?:search|look(?:\s|-)?up|look\s+for|google|query|retrieve|fetch|browse|find)"
# At the start of a sentence, a line or a quotation, or after words of duty: "the search" and "could not find" are none.
_ORDER = re.compile(
    r"(?:(?:\A|[.:;!?\n>\"'`(\[*,-])\s*|\b(?:must|should|shall|needs?|have|has|ought|let(?:'s| us| me)|(?:i|you|we)'ll"
    r"|will|please|now|then|next|and|to)\s+)(?:to\s+)?(?:\w+ly\s+)?" + _VERBS + r"\b(?!\s+(?:results?|engines?))"
    r"|\baction ?\d{0,3}(?: ?input ?\d{0,3})? ?:|<\w*(?:search|query)\w*>|\b\w*(?:search|query)\w*[\"']?\s*[:=(\[]",
    re.IGNORECASE,
)
# Languages whose verb may stand behind its object.
_ORDER_ANYWHERE = re.compile(r"검색|찾아|조회|搜|查询|查詢|查找|查一下|検索|調べ|探し")
_PARAGRAPH = re.compile(r"\n\s*\n")
_SPACE = re.compile(r"[^\S\n]+")


def is_planted(query: str, results: Iterable[str], question: str = "") -> bool:
    """Whether one of the tools' ``results`` holds an order to search for ``query``.

    It does if the query stands there, in whatever case, and behind an order in the same paragraph. What the user asked
    for is never planted: ``question`` is the user's text.
    """
    wanted = _folded(query)
    if not wanted or wanted in _folded(question):
        return False
    return any(_orders(_folded(result), wanted) for result in results)


def _folded(text: str) -> str:
    return _SPACE.sub(" ", text.casefold()).strip()


def _orders(result: str, wanted: str) -> bool:
    at = result.find(wanted)
    while at >= 0:
        before = _PARAGRAPH.split(result[max(0, at - BEFORE_CHARS) : at])[-1]
        after = _PARAGRAPH.split(result[at : at + len(wanted) + AFTER_CHARS])[0]
        if _ORDER.search(before) or _ORDER_ANYWHERE.search(before + after):
            return True
        at = result.find(wanted, at + len(wanted))
    return False
