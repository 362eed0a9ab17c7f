"""The language of a thought, by its script."""

from __future__ import annotations

import re
from collections.abc import Iterable

UNKNOWN = "unknown"
_HANGUL = re.compile(r"[\uac00-\ud7a3\u1100-\u11ff\u3131-\u318e]")
_KANA = re.compile(r"[\u3041-\u30ff]")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_LATIN_WORD = re.compile(r"[^\W\d_\u0370-\U0010ffff]+")
_LETTER = re.compile(r"[^\W\d_]")


def language_of(text: str) -> str:
    """``ko``, ``ja``, ``zh`` or ``en`` by what most of the text is written in; ``unknown`` for other scripts and none.

    A Hangul, kana or Han character is set against a Latin *word*, since names of other languages stand in many
    thoughts. A thought in Han and kana is Japanese where one character in ten is kana, as in all Japanese prose. Latin
    letters count as English, the one language among them that has cues: whose recordings are in another, say so in
    their ``language``.
    """
    hangul, kana, han = (len(script.findall(text)) for script in (_HANGUL, _KANA, _HAN))
    latin = len(_LATIN_WORD.findall(text))
    east = max(hangul, kana + han)
    if east and east >= latin:
        if hangul >= kana + han:
            return "ko"
        return "ja" if 10 * kana >= kana + han else "zh"
    others = len(_LETTER.findall(text)) - sum(map(len, _LATIN_WORD.findall(text))) - hangul - kana - han
    return "en" if latin and latin >= others / 5 else UNKNOWN


def first_known(texts: Iterable[str]) -> str:
    """The language of the first text that has one."""
    return next((found for found in map(language_of, texts) if found != UNKNOWN), UNKNOWN)
