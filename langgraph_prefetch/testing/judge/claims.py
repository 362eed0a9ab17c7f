"""What the scripted judge goes by: the claims of a text, and which of them another text holds. No model is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable

ENOUGH = 0.7
"""The share of a claim's words that a text must hold to support it."""
_ENDS = re.compile(r"(?<=[.!?])\s+|[\u3002\uff01\uff1f]\s*|\n+")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_WORD = re.compile(r"[\w'.]*\w")
# Writing without spaces between words, or with particles stuck to them: two characters are compared at a time.
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_REFUSAL = re.compile(
    r"\b(i (do not|don't) know|i (can not|cannot|can't|am unable|am not able)|i'm (sorry|unable|not able)|no answer)\b"
    r"|모르겠|알 수 없|답변할 수 없|답할 수 없",
    re.IGNORECASE,
)


def claims(text: str) -> list[str]:
    """The sentences, lines and list items of a text."""
    pieces = (_BULLET.sub("", piece).strip() for piece in _ENDS.split(text))
    return [piece for piece in pieces if words(piece)]


def words(text: str) -> set[str]:
    """The words of a text, in lower case; pairs of characters where words are not set apart."""
    found: set[str] = set()
    for word in _WORD.findall(text.lower()):
        if _CJK.search(word) and len(word) > 1:
            found.update(word[at : at + 2] for at in range(len(word) - 1))
        else:
            found.add(word)
    return found


def held(claim: str, text: str) -> float:
    """The share of a claim's words that ``text`` holds, from 0 to 1; 0 of a claim without words."""
    wanted = words(claim)
    return len(wanted & words(text)) / len(wanted) if wanted else 0.0


def supported(text: str, contexts: Iterable[str]) -> float:
    """The share of a text's claims that a context, or all of them together, hold; 0 without claims."""
    together = "\n".join(contexts)
    found = claims(text)
    return sum(held(claim, together) >= ENOUGH for claim in found) / len(found) if found else 0.0


def is_refusal(text: str) -> bool:
    """Whether a text declines to answer."""
    return bool(_REFUSAL.search(text))
