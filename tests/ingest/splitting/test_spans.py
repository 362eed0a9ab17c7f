"""Splitting as users rely on it: nothing lost, in order, within bounds, at borders that a reader sees."""

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.ingest.splitting import MarkdownSplitter, RecursiveSplitter, Span

# Much of what splits badly: blanks, sentence ends, combining marks, joined emoji, flags, Hangul, Windows line ends.
PARTS = st.sampled_from(
    [
        "a",
        "word ",
        "Longer words. ",
        "\n",
        "\n\n",
        " ",
        "\t",
        "\r\n",
        "e\u0301",
        "\u0301",
        "👩\u200d🚀",
        "🇩🇪",
        "🇫",
        "각",
        "漢字。",
    ]
)
TEXTS = st.lists(PARTS, max_size=120).map("".join) | st.text(max_size=200)
MARKDOWN = st.lists(
    st.sampled_from(
        [
            "# A\n",
            "## B\n\n",
            "text\n",
            "\n",
            "```\n",
            "# no\n",
            "> q\n",
            "- i\n",
            "S\n===\n",
            "    c\n",
            "|a|\n|-|\n|b|\n",
        ]
    ),
    max_size=40,
).map("".join)


@st.composite
def sizes(draw: st.DrawFn) -> tuple[int, int]:
    size = draw(st.integers(1, 60))
    return size, draw(st.integers(0, size // 2))


def assert_whole(text: str, spans: list[Span], size: int, overlap: int) -> None:
    assert "".join(text[span.body : span.end] for span in spans) == text
    place = 0
    for span in spans:
        assert span.body == place
        assert span.start <= span.body < span.end
        assert span.end - span.start <= size
        assert span.body - span.start <= overlap
        place = span.end


@given(TEXTS, sizes())
def test_nothing_is_lost_and_no_piece_is_too_long(text: str, bounds: tuple[int, int]) -> None:
    """The bodies of the spans, joined, are the text; what is repeated stands right before the body."""
    size, overlap = bounds
    assert_whole(text, RecursiveSplitter(size=size, overlap=overlap).spans(text), size, overlap)


@given(MARKDOWN | TEXTS, sizes())
def test_nothing_of_markdown_is_lost(text: str, bounds: tuple[int, int]) -> None:
    """Sections and what is kept whole change where the cuts are, and nothing else."""
    size, overlap = bounds
    assert_whole(text, MarkdownSplitter(size=size, overlap=overlap).spans(text), size, overlap)


@given(st.lists(PARTS, min_size=1, max_size=120).map("".join), sizes())
def test_no_character_is_cut_in_two(text: str, bounds: tuple[int, int]) -> None:
    """What a reader sees as one character stays whole wherever it fits; a repetition begins between two as well."""
    size, overlap = bounds
    characters = [found.span() for found in regex.finditer(r"\X", text)]
    between = {0, *(end for _, end in characters)}
    if max(end - start for start, end in characters) * 2 > size - overlap:
        return
    for span in RecursiveSplitter(size=size, overlap=overlap).spans(text):
        assert span.end in between
        assert span.start in between


@given(
    st.lists(st.sampled_from(["e\u0301", "👩\u200d🚀", "🇩🇪", "각", "漢"]), max_size=80).map("".join),
    st.integers(12, 30),
)
def test_no_character_is_cut_in_two_without_blanks(text: str, size: int) -> None:
    """Where there are only characters to cut between."""
    between = {0, *(found.end() for found in regex.finditer(r"\X", text))}
    for span in RecursiveSplitter(size=size, overlap=5).spans(text):
        assert {span.start, span.body, span.end} <= between


def test_flags_stay_whole_however_many() -> None:
    """They are pairs of letters: which two belong together shows only from the first of them on."""
    spans = RecursiveSplitter(size=151, overlap=15).spans("🇩🇪" * 300)
    assert len(spans) > 3
    assert all(place % 2 == 0 for span in spans for place in (span.start, span.body, span.end))


def pieces(text: str, size: int, overlap: int = 0) -> list[str]:
    return [text[span.start : span.end] for span in RecursiveSplitter(size=size, overlap=overlap).spans(text)]


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("one two. three\n\nfour five six seven", "one two. three\n\n"),
        ("one two three. four five\nsix seven", "one two three. "),
        ("one two three four\nfive six seven", "one two three four\n"),
        ("one two three four five six", "one two three four "),
        ("onetwothreefourfivesixseven", "onetwothreefourfives"),
        ("一二三四五六七八九十一二。三四五六七八九十一二三", "一二三四五六七八九十一二。"),
        ('He said "no more of it." And then he left.', 'He said "no more of '),
        ("e\u0301" * 15, "e\u0301" * 10),
    ],
)
def test_the_best_border_is_taken(text: str, cut: str) -> None:
    """Paragraph before sentence before line before word before character."""
    assert pieces(text, 20)[0] == cut


def test_a_short_text_is_one_piece() -> None:
    """At the limit it is not cut, beyond it it is."""
    assert pieces("x" * 20, 20) == ["x" * 20]
    assert pieces("x" * 21, 20) == ["x" * 20, "x"]
    assert pieces("", 20) == []


def test_repetition_begins_with_a_word() -> None:
    """A piece does not begin in the middle of a word of the one before."""
    assert pieces("alpha beta gamma delta epsilon", 16, 8) == [
        "alpha beta ",
        "beta gamma ",
        "gamma delta ",
        "delta epsilon",
    ]


@pytest.mark.parametrize(
    "unit",
    ["a", " ", "\n", "\r\n", "e\u0301", "\u0301", "🇩🇪", "👩\u200d", ". ", "漢", "a\n", "* ", "> ", "`"],
)
def test_time_grows_with_the_length_alone(unit: str) -> None:
    """A text without any border, or of nothing else, takes as many looks per piece as any: counted, not timed."""
    looks = [looked_at(unit * (length // len(unit))) for length in (10_000, 40_000)]
    assert looks[1] <= looks[0] * 4.5 + 1_000


def looked_at(text: str) -> int:
    """How many characters the patterns were given to look at."""
    from langgraph_prefetch.ingest.splitting import borders

    seen = 0

    class Counting:
        def __init__(self, pattern: "regex.Pattern[str]") -> None:
            self._pattern = pattern

        def search(self, text: str, start: int, end: int) -> "regex.Match[str] | None":
            nonlocal seen
            seen += end - start
            return self._pattern.search(text, start, end)

        def finditer(self, text: str) -> object:
            nonlocal seen
            seen += len(text)
            return self._pattern.finditer(text)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(borders, "_PREFERRED", tuple(Counting(each) for each in borders._PREFERRED))
        for name in ("_LAST_WORD", "_NEXT_WORD", "_CHARACTER"):
            patch.setattr(borders, name, Counting(getattr(borders, name)))
        RecursiveSplitter(size=500, overlap=100).spans(text)
    return seen


@pytest.mark.parametrize("splitter", [RecursiveSplitter, MarkdownSplitter])
def test_wrong_sizes_are_refused(splitter: type[RecursiveSplitter] | type[MarkdownSplitter]) -> None:
    """With what to do instead."""
    with pytest.raises(ConfigurationError, match="size must be at least 1"):
        splitter(size=0, overlap=0)
    with pytest.raises(ConfigurationError, match="overlap must be at most half of size, 50, not 51"):
        splitter(size=100, overlap=51)
