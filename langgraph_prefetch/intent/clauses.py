"""Search directives of Korean, Chinese and Japanese text, judged clause by clause."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from langgraph_prefetch.intent.cues import grammar
from langgraph_prefetch.intent.detector import Detector, Evidence
from langgraph_prefetch.intent.objects import alternatives

_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_KANA = re.compile(r"[\u3041-\u30ff]")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_END = re.compile(r"[。！？!?\n]|\.(?=\s)|[，,；;、]")
_SENTENCE_END = "。！？!?\n."
_OPENING, _CLOSING = '「『“‘《"', '」』”’》"'
_MAX_CLAUSE = 400
_MAX_OBJECT = 80


@dataclass(frozen=True, slots=True)
class ClauseObject:
    """The object of a directive: ``text`` is the query, ``end`` its clause's end in the message, in characters."""

    evidence: Evidence
    text: str
    end: int


class ClauseReader:
    """Finds directives at the end of each clause, since in these languages negation may stand last.

    The script tells the languages apart: Hangul is Korean, kana Japanese, other Han Chinese. A clause in another
    script is nobody's.
    """

    __slots__ = ("_base", "_detectors", "_eastern", "_sentence", "_start", "_text", "_threshold")

    def __init__(self, detectors: Mapping[str, Detector], threshold: float) -> None:
        self._detectors = detectors
        self._threshold = threshold
        self._text = ""
        self._sentence = self._base = self._start = 0
        self._eastern = False

    def feed(self, text: str) -> Iterator[ClauseObject]:
        """Objects of the clauses which ended within ``text``."""
        self._text += text
        if not self._eastern:
            if text.isascii() or _language(text) is None:
                self._bound()
                return
            self._eastern = True
        # A full stop ends a clause only together with the character behind it, hence the step back.
        if _END.search(self._text, max(self._start, len(self._text) - len(text) - 1)) is not None:
            yield from self._advance()
        self._bound()

    def finish(self) -> Iterator[ClauseObject]:
        """The text has ended."""
        self._text += "\n"
        if self._eastern:
            yield from self._advance()

    def _advance(self) -> Iterator[ClauseObject]:
        for found in _END.finditer(self._text, self._start):
            language = _language(self._text[self._start : found.start()])
            if found.group() == "、" and language != "ja":
                continue
            if language is not None and (read := self._read(language, found.start())) is not None:
                yield read
            self._start = found.end()
            if found.group() in _SENTENCE_END:
                self._sentence = self._start
        if self._start - self._sentence > _MAX_CLAUSE:
            self._sentence = self._start
        self._drop(self._sentence)
        self._eastern = bool(self._text) and _language(self._text) is not None

    def _read(self, language: str, end: int) -> ClauseObject | None:
        detector = self._detectors[language]
        sentence, start = self._text[self._sentence : end], self._start - self._sentence
        evidence = detector.in_clause(sentence, start)
        if evidence is None or evidence.probability < self._threshold or _in_quotes(sentence, evidence.start):
            return None
        if detector.verb_first:
            text = _object(language, sentence[evidence.end :]) or _object(language, sentence[start : evidence.intent])
        else:
            text = _object(language, sentence[start : evidence.start])
        if not text or len(text) > _MAX_OBJECT:
            return None
        return ClauseObject(evidence, text, self._base + end)

    def _bound(self) -> None:
        if len(self._text) > 2 * _MAX_CLAUSE:
            self._drop(len(self._text) - _MAX_CLAUSE)

    def _drop(self, count: int) -> None:
        self._base += count
        self._text = self._text[count:]
        self._start = max(0, self._start - count)
        self._sentence = max(0, self._sentence - count)


def _language(text: str) -> str | None:
    if _HANGUL.search(text):
        return "ko"
    if _KANA.search(text):
        return "ja"
    return "zh" if _HAN.search(text) else None


def _in_quotes(text: str, at: int) -> bool:
    before = text[:at]
    return any(
        before.count(opening) % 2 == 1 if opening == closing else before.rfind(opening) > before.rfind(closing)
        for opening, closing in zip(_OPENING, _CLOSING, strict=True)
    )


def _object(language: str, text: str) -> str:
    """``text`` without the words around the query: leads, particles, what follows a cut."""
    own = grammar(language)
    text = re.split(alternatives(own.cut), text, maxsplit=1)[0].strip(" 　,，、:：")
    lead = re.compile(rf"(?:{alternatives(own.lead)})[\s　,，、]*")
    while (found := lead.match(text)) is not None:
        text = text[found.end() :]
    text = re.sub(rf"\s*(?:{alternatives(own.tail)})\Z", "", text)
    return text.strip(" 　,，、").strip('「」『』“”"《》‘’')
