"""Cutting one text into spans of bounded length."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from langgraph_prefetch.ingest.splitting.borders import first_word, last_border
from langgraph_prefetch.ingest.splitting.shapes import Span

Range = tuple[int, int]


def spans(
    text: str, size: int, overlap: int = 0, *, start: int = 0, end: int | None = None, kept: Sequence[Range] = ()
) -> Iterator[Span]:
    """Spans of at most ``size`` characters, in order; their bodies, joined, are ``text[start:end]``.

    Args:
        text: what is cut, in a time that grows with its length alone.
        size: of a span with what it repeats, at least 1.
        overlap: how much of what stands before it a span repeats at most, from the beginning of a word on; at most
            half of ``size``.
        start: where to begin.
        end: where to end; at the text's end if None.
        kept: ranges of the text to leave whole where they are no longer than ``size``, sorted and apart.
    """
    end = len(text) if end is None else end
    starts = [first for first, _ in kept]
    begin = body = start
    while end - begin > size:
        whole = _range_at(kept, starts, body)
        if whole is not None and whole[0] == body and whole[1] - begin > size >= whole[1] - body:
            begin = body  # rather without repetition than cut in two
            continue
        reach = begin + size
        cut = last_border(text, body, max(body, begin + size // 2), reach)
        whole = _range_at(kept, starts, cut)
        if whole is not None and whole[0] < cut and whole[1] - whole[0] <= size:
            if whole[0] > body:
                cut = whole[0]
            elif whole[1] <= reach:
                cut = whole[1]
        yield Span(begin, body, cut)
        known, body = body, cut
        begin = first_word(text, max(cut - overlap, known), cut, known) if overlap else cut
    if body < end:
        yield Span(begin, body, end)


def _range_at(kept: Sequence[Range], starts: Sequence[int], position: int) -> Range | None:
    """The range that goes on at a position."""
    index = bisect_right(starts, position) - 1
    return kept[index] if index >= 0 and position < kept[index][1] else None
