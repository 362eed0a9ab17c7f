"""Candidate queries from a directive's object, with a probability each."""

from __future__ import annotations

import re

from langgraph_prefetch.intent.cues import grammar

_QUOTES = "\"“”'‘’`*"
_LEAD = re.compile(
    r"\s*(?:(?:" + "|".join(sorted(map(re.escape, grammar("en").lead), key=len, reverse=True)) + r")\s+)*", re.IGNORECASE
)
_ARTICLE = re.compile(r"(?:the|a|an)\s+", re.IGNORECASE)


def clean(text: str) -> str:
    text = text[_LEAD.match(text).end() :].strip()  # type: ignore[union-attr]
    text = _ARTICLE.sub("", text, count=1) if _ARTICLE.match(text) else text
    return text.strip().rstrip(".,;:!?").strip()
