"""Each format: what becomes of its content, and what is said of content that cannot be read."""

import codecs
import json
import sys
import warnings
from pathlib import Path

import pytest

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.ingest.sources import files, python_package
from tests.ingest.sources.writing import read, read_one, write


@pytest.mark.parametrize(
    "content",
    [
        "naïve\ntext".encode(),
        codecs.BOM_UTF8 + "naïve\ntext".encode(),
        codecs.BOM_UTF16_LE + "naïve\ntext".encode("utf-16-le"),
        codecs.BOM_UTF16_BE + "naïve\ntext".encode("utf-16-be"),
        codecs.BOM_UTF32_LE + "naïve\ntext".encode("utf-32-le"),
        "  naïve\r\ntext\r\n".encode(),
    ],
)
def test_text_that_says_its_encoding(tmp_path: Path, content: bytes) -> None:
    """By a byte order mark, or else UTF-8; line ends are all the same."""
    [document], skipped = read_one(tmp_path, "a.txt", content)
    assert (document.source, document.text, document.metadata) == ("a.txt", "naïve\ntext", {})
    assert skipped == []


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("ok\nnaïve".encode("latin-1"), "not utf-8: byte 0xef in line 2; convert it, or say its encoding"),
        ("text".encode("utf-16-le"), "holds a NUL character, which PostgreSQL cannot store: a binary file, or UTF-16"),
        (codecs.BOM_UTF16_LE + b"a", "not utf-16"),
        (b"", "no text in it"),
        (b" \n\t ", "no text in it"),
    ],
)
def test_what_is_no_text_is_skipped(tmp_path: Path, content: bytes, reason: str) -> None:
    """Latin-1 is not guessed: every file would pass for it."""
    documents, [skipped] = read_one(tmp_path, "a.txt", content)
    assert documents == []
    assert skipped.startswith(f"a.txt: {reason}")


def test_an_encoding_that_is_said_is_believed(tmp_path: Path) -> None:
    """One that does not exist is named."""
    [document], _ = read_one(tmp_path, "a.txt", "naïve".encode("latin-1"), encoding="latin-1")
    assert document.text == "naïve"
    assert read_one(tmp_path, "a.txt", "x", encoding="latin-99") == ([], ["a.txt: there is no encoding 'latin-99'"])


def test_markdown_has_its_first_heading_as_title(tmp_path: Path) -> None:
    """Behind front matter too; a later heading is no title."""
    [document], _ = read_one(tmp_path, "a.md", "---\nkey: x\n---\n\n# The title #\n\nText.")
    assert document.metadata == {"title": "The title"}
    assert document.markup == "markdown"
    assert read_one(tmp_path, "b.md", "Text.\n\n# Later")[0][0].metadata == {}


PAGE = """\
<!doctype html><html><head><title>Tea &amp; cake</title><style>p {}</style></head><body>
<script>alert(1)</script><noscript>no</noscript><svg><text>drawn</text></svg>
<h1>Menu</h1><p>Tea with <b>mi</b>lk,
   or <i>without</i>.<br>Hot.</p>
<pre>two  blanks
  indented</pre><ul><li>one<li>two</ul><table><tr><td>a<td>b<tr><td>c<td>d</table>end</body></html>"""


def test_html_is_read_as_it_is_seen(tmp_path: Path) -> None:
    """Words stay whole, blocks and lines apart, code as it is; scripts, styles and drawings are left out."""
    [document], _ = read_one(tmp_path, "a.html", PAGE)
    assert document.metadata == {"title": "Tea & cake"}
    assert document.text == (
        "Tea & cake\n\nMenu\n\nTea with milk, or without.\nHot.\n\n"
        "two  blanks\n  indented\n\none\ntwo\n\na\tb\nc\td\n\nend"
    )


def test_the_first_line_of_code_keeps_its_indentation(tmp_path: Path) -> None:
    """It means something, in Python above all."""
    [document], _ = read_one(tmp_path, "a.html", "<p>As in:</p> <pre>\n    return x\nelse:</pre> <p>End")
    assert document.text == "As in:\n\n    return x\nelse:\n\nEnd"


@pytest.mark.parametrize(
    ("name", "content", "title"),
    [
        ("a.html", f"a{'<br>' * 200_000}b", None),
        ("b.html", f"a{'<td>' * 200_000}b", None),
        ("c.md", f"# a{' ' * 400_000}b", f"a{' ' * 400_000}b"),
        ("d.md", f"# a{' #' * 200_000}", f"a{' #' * 199_999}"),
    ],
)
def test_no_page_takes_longer_than_its_length_allows(
    tmp_path: Path, name: str, content: str, title: str | None
) -> None:
    """Where each blank was looked at from each blank before it, one hostile page stopped an ingestion for hours."""
    [document], _ = read_one(tmp_path, name, content)
    assert document.metadata.get("title") == title


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# C#", "C#"),
        ("## a ##\t", "a"),
        ("# a ## ##", "a ##"),
        ("# #", "#"),
        ("#\tx", "x"),
        ("#x", None),
        ("#  ", None),
    ],
)
def test_titles_of_markdown(tmp_path: Path, line: str, title: str | None) -> None:
    """Signs that close a heading are not part of it."""
    assert read_one(tmp_path, "a.md", f"{line}\ntext")[0][0].metadata.get("title") == title


def test_html_says_its_encoding(tmp_path: Path) -> None:
    """A declared charset counts where the page is not UTF-8, as most that declare something else are after all."""
    page = '<meta charset="windows-1252"><p>naïve'
    assert read_one(tmp_path, "a.html", page.encode("cp1252"))[0][0].text == "naïve"
    assert read_one(tmp_path, "b.html", page.encode())[0][0].text == "naïve"
    assert read_one(tmp_path, "c.html", "<p>naïve".encode("cp1252"))[1][0].startswith("c.html: not utf-8")
    assert read_one(tmp_path, "d.html", "<script>x</script>") == ([], ["d.html: no text in it"])


LINES = b"""\
{"title": "One", "text": "First.", "page": 1}

not json
["a"]
{"title": "no text"}
{"text": 7}
{"text": " "}
{"text": "n\\u0000l"}
{"text": "\\ud800"}
{"text": "bad \xff byte"}
{"title": "Two", "text": "Two and more."}"""


def test_each_line_is_a_document(tmp_path: Path) -> None:
    """A broken one is named with its line and the rest goes on; a title is put in front unless it stands there."""
    documents, skipped = read_one(tmp_path, "a.jsonl", LINES)
    assert [(each.text, each.metadata) for each in documents] == [
        ("One\n\nFirst.", {"title": "One", "page": 1}),
        ("Two and more.", {"title": "Two"}),
    ]
    assert {each.source for each in documents} == {"a.jsonl"}
    assert [line.split(": ")[0] for line in skipped] == [f"a.jsonl:{number}" for number in range(3, 11)]
    assert [line.split(": ", 1)[1].split(" in column")[0] for line in skipped][:6] == [
        "not JSON: invalid literal, expected 'null'",
        "not a JSON object, but an array",
        "no text in the field 'text'",
        "no text in the field 'text'",
        "no text in it",
        "holds a NUL character, which PostgreSQL cannot store",
    ]


def test_metadata_that_no_database_keeps(tmp_path: Path) -> None:
    """A NUL among them is found however deep; what only looks like one is kept."""
    content = rb"""{"text": "a", "note": {"deep": ["n\u0000l"]}}
{"text": "b", "note": "a path, C:\\u0000"}"""
    documents, skipped = read_one(tmp_path, "a.jsonl", content)
    assert [each.metadata for each in documents] == [{"note": r"a path, C:\u0000"}]
    assert skipped == ["a.jsonl:1: holds a NUL character, which PostgreSQL cannot store"]


def test_fields_can_be_named(tmp_path: Path) -> None:
    """What is text, what title, and what else is kept."""
    line = json.dumps({"body": "B", "head": "H", "page": 1, "secret": "s"})
    [document], _ = read_one(
        tmp_path, "a.jsonl", line, text_field="body", title_field="head", metadata_fields=("page",)
    )
    assert (document.text, document.metadata) == ("H\n\nB", {"page": 1})
    [document], _ = read_one(tmp_path, "a.jsonl", line, text_field="body", title_field=None, title_in_text=False)
    assert (document.text, document.metadata) == ("B", {"head": "H", "page": 1, "secret": "s"})


def test_a_huge_line_is_never_held(tmp_path: Path) -> None:
    """It is skipped, with its number, and the line after it is read."""
    content = b'{"text": "' + b"x" * 10_000 + b'"}\n{"text": "ok"}\n'
    documents, skipped = read_one(tmp_path, "a.jsonl", content, max_bytes=1_000)
    assert [each.text for each in documents] == ["ok"]
    assert skipped == ["a.jsonl:1: a line of more than 1,000 bytes"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_lines_in_other_encodings(tmp_path: Path, encoding: str) -> None:
    """A byte order mark is no part of the first line."""
    content = '{"text": "naïve"}\n{"text": "zwei"}\n'.encode(encoding)
    documents, skipped = read_one(tmp_path, "a.jsonl", content)
    assert [each.text for each in documents] == ["naïve", "zwei"]
    assert skipped == []


MODULE = '''\
"""About the module."""
raise RuntimeError("never run")
class Outer:
    """About a class."""
    def method(self):
        """About
            a method."""
        def inner():
            """Local, left out."""
    class Inner: "Within."
if True:
    async def maybe(): "Under a condition; \\\\d escapes."
def bare(): pass
'''


def test_docstrings_are_read_without_running_anything(tmp_path: Path) -> None:
    """Under the name that one would import, with what they document."""
    write(tmp_path, {"pack/__init__.py": "", "pack/mod.py": MODULE})
    documents, skipped = read(files(tmp_path / "pack", root=tmp_path))
    assert [(each.text, each.metadata["kind"]) for each in documents] == [
        ("pack.mod: About the module.", "module"),
        ("pack.mod.Outer: About a class.", "class"),
        ("pack.mod.Outer.method: About\na method.", "function"),
        ("pack.mod.Outer.Inner: Within.", "class"),
        ("pack.mod.maybe: Under a condition; \\d escapes.", "function"),
    ]
    assert skipped == []  # a file without documentation is nothing to tell of


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("print 'two'\n", "not Python 3."),
        ("x = " + "(" * 5_000, "not "),
        ('"""n\0l"""', "not "),
        (b"# coding: latin-99\n", "not Python 3."),
    ],
)
def test_what_is_no_python_is_skipped(tmp_path: Path, content: str | bytes, reason: str) -> None:
    """With the line where it is known; Python 2 and hostile nesting among it."""
    documents, [skipped] = read_one(tmp_path, "a.py", content)
    assert documents == []
    assert skipped.startswith(f"a.py: {reason}")


def test_a_file_of_somebody_else_does_not_warn(tmp_path: Path) -> None:
    """An invalid escape is its author's to mend; the process's filters are as they were."""
    before = list(warnings.filters)
    documents, _ = read_one(tmp_path, "a.py", '"""Doc."""\nx = "\\d"\n')
    assert [each.text for each in documents] == ["a: Doc."]
    assert list(warnings.filters) == before


def test_installed_packages_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Found without importing them, one module or a whole package."""
    write(tmp_path, {"lonely.py": '"""Alone."""', "crowd/__init__.py": '"""All."""', "crowd/one.py": '"""One."""'})
    monkeypatch.syspath_prepend(str(tmp_path))
    assert [(each.source, each.text) for each in read(python_package("crowd"))[0]] == [
        ("crowd/__init__.py", "crowd: All."),
        ("crowd/one.py", "crowd.one: One."),
    ]
    assert [each.text for each in read(python_package("crowd.one"))[0]] == ["crowd.one: One."]
    assert [each.source for each in read(python_package("lonely"))[0]] == ["lonely.py"]
    assert not {"lonely", "crowd"} & set(sys.modules)
    for unknown in ("no_such_package", "lonely.inside", "sys", ""):
        with pytest.raises(ConfigurationError, match="there is no Python package"):
            python_package(unknown)
