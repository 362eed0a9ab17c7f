"""Finding files: which, in which order, under which names, and when they count as unchanged."""

import copy
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.ingest.sources import JoinedSource, Part, Skipped, Source, files
from tests.ingest.sources.writing import read, write


def names(source: Source) -> list[str]:
    return [part.source for part in source.parts() if not isinstance(part, Skipped)]


def skipped(source: Source) -> list[str]:
    return [str(part) for part in source.parts() if isinstance(part, Skipped)]


def test_folders_are_read_recursively_and_in_order(tmp_path: Path) -> None:
    """What is hidden, a cache or a virtual environment is passed over; other types are counted, not listed."""
    write(
        tmp_path,
        {
            **dict.fromkeys(["b.txt", "a/z.md", "a/b/c.html", "c.TXT", "d.jsonl", "e.py"], "x"),
            **dict.fromkeys(
                [".git/x.txt", ".hidden.md", "node_modules/x.md", "__pycache__/x.py", "venv/lib/x.py"], "x"
            ),
            "venv/pyvenv.cfg": "",
            **dict.fromkeys(["x.png", "y.png", "Makefile"], "x"),
        },
    )
    source = files(tmp_path, root=tmp_path)
    assert names(source) == ["a/b/c.html", "a/z.md", "b.txt", "c.TXT", "d.jsonl", "e.py"]
    assert skipped(source) == [f"{tmp_path}: files of other types: 3 (.png 2, no suffix 1)"]
    assert names(files(tmp_path, root=tmp_path, format="markdown")) == ["a/z.md"]
    assert names(files(tmp_path / "venv", root=tmp_path)) == ["venv/lib/x.py"]


def test_files_are_named_by_absolute_paths_unless_from_a_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the same file has the same name from wherever it is indexed, and two projects' READMEs stay two."""
    write(tmp_path, {"docs/a.md": "x"})
    monkeypatch.chdir(tmp_path)
    full = (tmp_path / "docs/a.md").as_posix()
    assert names(files("docs")) == names(files("./docs/a.md")) == names(files(tmp_path / "docs")) == [full]
    assert names(files("docs", root=".")) == ["docs/a.md"]
    with pytest.raises(ConfigurationError, match="is not in the root folder"):
        names(files("docs", root=tmp_path / "elsewhere"))


def test_patterns_and_overlapping_paths(tmp_path: Path) -> None:
    """Sorted, and each file once."""
    write(tmp_path, dict.fromkeys(["b.md", "a.md", "sub/c.md", "d.txt"], "x"))
    assert names(files(f"{tmp_path}/*.md", root=tmp_path)) == ["a.md", "b.md"]
    assert names(files(f"{tmp_path}/**/*.md", root=tmp_path)) == ["a.md", "b.md", "sub/c.md"]
    assert names(files(tmp_path / "d.txt", tmp_path, f"{tmp_path}/*.md", root=tmp_path)) == [
        *["d.txt", "a.md", "b.md", "sub/c.md"]
    ]
    write(tmp_path, {"[odd].txt": "x"})
    assert names(files(tmp_path / "[odd].txt", root=tmp_path)) == ["[odd].txt"]


@pytest.mark.parametrize(
    ("paths", "message"),
    [(["missing"], "no file or folder"), (["*.nothing"], "no file matches"), ([], "at least one")],
)
def test_what_does_not_exist_is_wrong_use(paths: list[str], message: str, tmp_path: Path) -> None:
    """A typing error must not pass for an empty corpus."""
    with pytest.raises(ConfigurationError, match=message):
        names(files(*[tmp_path / path for path in paths]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "markdwn"}, "Did you mean 'markdown'"),
        ({"max_bytes": 0}, "max_bytes must be at least 1"),
        ({"metadata_fields": "page"}, "a tuple of names"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    """Found at once, with what would be right."""
    with pytest.raises(ConfigurationError, match=message):
        files(tmp_path, **options)


def test_a_named_file_of_an_unknown_type_is_text(tmp_path: Path) -> None:
    """Or what it is said to be."""
    write(tmp_path, {"LICENSE": "# Terms"})
    [document], _ = read(files(tmp_path / "LICENSE"))
    assert document.markup == "plain"
    [document], _ = read(files(tmp_path / "LICENSE", format="markdown"))
    assert document.markup == "markdown"


def test_links_are_followed_only_if_asked_and_never_in_circles(tmp_path: Path) -> None:
    """A link out of the folder could make a whole disk part of a corpus."""
    write(tmp_path, {"in/a.txt": "x", "out/b.txt": "y", "in/c.png": ""})
    (tmp_path / "in/loop").symlink_to(tmp_path / "in", target_is_directory=True)
    (tmp_path / "in/other").symlink_to(tmp_path / "out", target_is_directory=True)
    (tmp_path / "in/link.txt").symlink_to(tmp_path / "in/a.txt")
    (tmp_path / "in/broken.txt").symlink_to(tmp_path / "nowhere")
    (tmp_path / "in/link.png").symlink_to(tmp_path / "in/c.png")
    plain = files(tmp_path / "in", root=tmp_path)
    assert names(plain) == ["in/a.txt"]
    assert [line.split(": ")[1] for line in skipped(plain)][:4] == [
        "a symbolic link; follow_links reads what it points at"
    ] * 4
    followed = files(tmp_path / "in", root=tmp_path, follow_links=True)
    assert names(followed) == ["in/a.txt", "in/link.txt", "in/other/b.txt"]
    assert any("broken.txt: No such file" in line for line in skipped(followed))


def test_what_cannot_be_opened_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too large, not a file, or not allowed: each with its reason, and the rest is read."""
    write(tmp_path, {"a.txt": "x" * 100, "b.txt": "ok", "d.txt": "secret"})
    os.mkfifo(tmp_path / "c.txt")
    real_open = open

    def guarded(path: Any, *args: Any, **kwargs: Any) -> Any:
        if str(path).endswith("d.txt"):
            raise PermissionError(
                13, "Permission denied"
            )  # root may read everything, so it cannot be arranged for real
        return real_open(path, *args, **kwargs)

    monkeypatch.setattr("builtins.open", guarded)
    documents, told = read(files(tmp_path, root=tmp_path, max_bytes=50))
    assert [each.text for each in documents] == ["ok"]
    assert told == [
        "a.txt: larger than 50 bytes; raise max_bytes, or split it",
        "c.txt: not a regular file",
        "d.txt: Permission denied",
    ]


def fingerprint(path: Path, **options: Any) -> bytes:
    [part] = files(path, root=path.parent, **options).parts()
    assert isinstance(part, Part)
    assert part.fingerprint is not None
    assert len(part.fingerprint) == 16
    return part.fingerprint


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl"])
def test_fingerprints_tell_what_would_be_read_otherwise(tmp_path: Path, name: str) -> None:
    """Content and how it is read, not where it is or when it was written."""
    path = write(tmp_path, {name: '{"text": "a"}', f"copy/{name}": '{"text": "a"}'}) / name
    before = fingerprint(path)
    os.utime(path, (1, 1))
    assert fingerprint(path) == before == fingerprint(tmp_path / "copy" / name)
    assert fingerprint(path, text_field="title") != before
    path.write_text('{"text": "b"}')
    assert fingerprint(path) != before


def test_an_unchanged_file_is_not_parsed(tmp_path: Path) -> None:
    """Its fingerprint is known before any of its lines is looked at."""
    path = write(tmp_path, {"a.jsonl": "not json at all\n" * 3}) / "a.jsonl"
    assert fingerprint(path) == fingerprint(path)
    assert len(read(files(path))[1]) == 3


def test_a_document_has_a_fingerprint_of_its_own(tmp_path: Path) -> None:
    """So that one line that changed is one document that changed, wherever the line stands now."""
    path = write(tmp_path, {"a.jsonl": '{"text": "a"}\n{"text": "b"}\n'}) / "a.jsonl"
    first = {each.text: each.fingerprint for each in read(files(path))[0]}
    path.write_text('{"text": "new"}\n{"text": "a"}\n{"text": "b"}\n')
    second = {each.text: each.fingerprint for each in read(files(path))[0]}
    assert second == {**first, "new": second["new"]}
    assert len(set(second.values())) == 3


def test_a_line_that_travels_keeps_its_fingerprint(tmp_path: Path) -> None:
    """To another process, or copied, whether anyone had asked for it or not."""
    path = write(tmp_path, {"a.jsonl": '{"text": "a", "n": [1]}\n'}) / "a.jsonl"
    [line], _ = read(files(path))
    asked, not_asked = pickle.loads(pickle.dumps(line)), copy.deepcopy(read(files(path))[0][0])
    assert asked == not_asked == line
    assert not hasattr(line, "other")
    with pytest.raises(AttributeError):
        line.text = "b"  # type: ignore[misc]


def test_a_file_that_changes_while_it_is_read_is_not_taken_for_whole(tmp_path: Path) -> None:
    """Its fingerprint is of what it was before: recorded, it would hide what came after."""
    path = write(tmp_path, {"a.jsonl": '{"text": "a"}\n{"text": "b"}\n'}) / "a.jsonl"
    [part] = files(path, root=tmp_path).parts()
    assert not isinstance(part, Skipped)
    found = part.documents()
    next(found)
    path.write_text('{"text": "a"}\n{"text": "b"}\n{"text": "c"}\n')
    assert str(list(found)[-1]) == "a.jsonl: changed while it was being read; run again"


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has no such names")
def test_a_name_that_is_no_text_is_kept_apart(tmp_path: Path) -> None:
    """It can be stored, and is no other file's."""
    (tmp_path / os.fsdecode(b"\xff.txt")).write_text("x")
    assert names(files(tmp_path, root=tmp_path)) == ["\\xff.txt"]


def test_joined_sources(tmp_path: Path) -> None:
    """One after the other, and what was given before only once."""
    write(tmp_path, dict.fromkeys(["a.txt", "b.txt"], "x"))
    first, second = (files(tmp_path / name, tmp_path / "b.txt", root=tmp_path) for name in ("a.txt", "b.txt"))
    assert names(JoinedSource(sources=(first, second))) == ["a.txt", "b.txt"]
