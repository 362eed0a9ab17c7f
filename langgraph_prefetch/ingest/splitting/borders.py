"""Where a text may be cut: after a paragraph, sentence, line or word, else between characters as readers see them.

Every search looks at one window of the text, with patterns of bounded length, so that no text takes quadratic time.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

# A mark, a joiner or a line feed belongs to what stands before it.
_THEN = r"(?=[^\p{M}\u200d\n])"
_CLOSING = r"[\"'”’»)\]}」』）】]{0,3}"
_PARAGRAPH = rf"\n[^\S\n]{{0,8}}\n{_THEN}"
_SENTENCE = rf"(?:[.!?…]{_CLOSING}\s{{1,4}}|[。！？．｡]{_CLOSING}){_THEN}"
_LINE = rf"\n{_THEN}"
_WORD = rf"\s{_THEN}"

_PREFERRED = tuple(regex.compile(pattern, regex.REVERSE) for pattern in (_PARAGRAPH, _SENTENCE, _LINE))
_LAST_WORD = regex.compile(_WORD, regex.REVERSE)
_NEXT_WORD = regex.compile(_WORD)
_CHARACTER = regex.compile(r"\X")
_NEARBY = 64
_FLAG_LETTERS = frozenset(map(chr, range(0x1F1E6, 0x1F200)))


def last_border(text: str, body: int, least: int, end: int) -> int:
    """The best place for a cut in ``(body, end]``, the last of its kind.

    Args:
        text: it goes on after ``end``.
        body: where the piece begins.
        least: a paragraph, sentence or line that ends before it would leave the piece too short.
        end: as far as the piece may reach.
    """
    for border in _PREFERRED:
        # The character after a border is looked at too, hence the one more.
        if (found := border.search(text, least, end + 1)) is not None:
            return int(found.end())
    if (found := _LAST_WORD.search(text, body, end + 1)) is not None:
        return int(found.end())
    return last_character(text, body, end)


def last_character(text: str, body: int, end: int) -> int:
    """The last place in ``(body, end]`` between two characters as readers see them (Unicode's grapheme clusters)."""
    if text[end - 1 : end + 1].isascii() and text[end - 1 : end + 1] != "\r\n":
        return end
    places = [place for place in _places(text, body, end - _NEARBY, end + _NEARBY) if place <= end]
    return places[-1] if places else end


def first_word(text: str, earliest: int, before: int, known: int) -> int:
    """The first beginning of a word in ``[earliest, before)``, else of a character, else ``before``.

    Args:
        text: where it is looked for.
        earliest: as early as it may be.
        before: where it must have begun.
        known: some earlier place that is known to be between two characters.
    """
    if (found := _NEXT_WORD.search(text, max(earliest - 1, 0), before)) is not None:
        return int(found.end())
    if text[earliest:before].isascii():
        return earliest + (text[earliest - 1 : earliest + 1] == "\r\n")
    if earliest <= known:
        return known
    places = _places(text, known, earliest - _NEARBY, min(before, earliest + _NEARBY))
    return next((place for place in places if earliest <= place < before), before)


def _places(text: str, known: int, start: int, stop: int) -> Iterator[int]:
    """The places between characters in ``(start, stop)``; the last may be wrong, where the text goes on."""
    start = max(start, known)
    # Wherever one begins to read, characters end at the same places, but for flags, which are pairs of letters.
    run = start
    while run > known and text[run] in _FLAG_LETTERS and text[run - 1] in _FLAG_LETTERS:
        run -= 1
    start -= (start - run) % 2
    # Of a slice, since the library looks back as far as there are such letters.
    for found in _CHARACTER.finditer(text[start:stop]):
        yield start + int(found.end())
