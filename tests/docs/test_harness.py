"""The harness that keeps the documentation honest fails when a document lies."""

import traceback
from pathlib import Path

import pytest

from tests.docs.commands import check_commands, command_lines
from tests.docs.snippets import Block, SnippetError, blocks, check_labels, run_python
from tests.docs.test_snippets import run_example

FILE = Path("guide.md")


def run(text: str) -> None:
    run_python(list(blocks(text)), FILE)


def fake_help(subcommand: tuple[str, ...]) -> str:
    pages = {(): "--version", ("replay",): "usage: langgraph-prefetch replay FILE [--latency S] [-v] [--json OUT]"}
    if subcommand not in pages:
        raise SnippetError(f"{subcommand} does not exist")
    return pages[subcommand]


def test_a_document_without_code_passes() -> None:
    """Prose needs no code."""
    run("# Title\n\nWords, and `inline` code.\n")


def test_blocks_share_a_namespace_in_order() -> None:
    """A later block may use what an earlier one made, and another document may not."""
    run("```python\nx = 1\n```\ntext\n```python\nassert x == 1\n```\n")
    with pytest.raises(NameError):
        run("```python\nassert x == 1\n```\n")


@pytest.mark.parametrize("label", ["python", "py", "Python", "python3", "python title=demo"])
def test_a_broken_snippet_fails(label: str) -> None:
    """An error in a block is an error of the document, however the block's label is written."""
    with pytest.raises(ZeroDivisionError):
        run(f"```{label}\n1 / 0\n```\n")


def test_a_failure_points_at_the_line_of_the_document() -> None:
    """Whoever reads the traceback finds the place."""
    with pytest.raises(ZeroDivisionError) as caught:
        run("# Title\n\n```python\nx = 0\n1 / x\n```\n")
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.lineno) == ("guide.md", 5)


def test_a_marked_block_is_compiled_but_not_run() -> None:
    """A block that cannot run offline still has to be Python."""
    run("<!-- no-run: needs a key -->\n```python\n1 / 0\n```\n")
    with pytest.raises(SyntaxError):
        run("<!-- no-run: needs a key -->\n```python\n1 /\n```\n")


def test_the_mark_counts_on_the_line_before_only() -> None:
    """A mark covers one block, gives a reason and stands right before it."""
    with pytest.raises(ZeroDivisionError):
        run("<!-- no-run: first -->\n```python\n1 / 0\n```\n```python\n1 / 0\n```\n")
    with pytest.raises(SnippetError, match="line 1: no-run stands before no block"):
        run("<!-- no-run: lost -->\n\n```python\n1 / 0\n```\n")
    with pytest.raises(SnippetError, match="needs a reason"):
        run("<!-- no-run: -->\n```python\n1 / 0\n```\n")


def test_hidden_setup_runs() -> None:
    """A document can prepare what it does not want to show."""
    run("<!-- setup:\nagent = 'a'\n-->\n```python\nassert agent == 'a'\n```\n")


def test_top_level_await_runs_on_one_loop() -> None:
    """Asynchronous use is shown as in a notebook; the blocks of a document share the loop."""
    loop = "import asyncio\nfirst = asyncio.get_running_loop()\nawait asyncio.sleep(0)\n"
    run(f"```python\n{loop}```\n```python\nawait asyncio.sleep(0)\nassert first is asyncio.get_running_loop()\n```\n")


def test_classes_know_their_module() -> None:
    """Dataclasses and type hints, which look their module up, work as in a file."""
    run(
        "```python\nfrom __future__ import annotations\nfrom dataclasses import dataclass\n"
        "from typing import get_type_hints\n@dataclass\nclass A:\n    b: B\nclass B: ...\n"
        "assert get_type_hints(A) == {'b': B}\n```\n"
    )


def test_indented_and_quoted_blocks_are_found() -> None:
    """A block in a list or a quotation is a block."""
    with pytest.raises(ZeroDivisionError):
        run("- item\n\n  ```python\n  1 / 0\n  ```\n")
    with pytest.raises(ZeroDivisionError):
        run("> ```python\n> 1 / 0\n> ```\n")


def test_a_longer_fence_holds_a_shorter_one() -> None:
    """Markdown shown in Markdown is text, not code."""
    (block,) = blocks("````text\n```python\n1 / 0\n```\n````\n")
    assert block == Block("text", "```python\n1 / 0\n```\n", 2)


def test_an_open_block_is_named() -> None:
    """A forgotten fence must not swallow the rest of the document unseen."""
    with pytest.raises(SnippetError, match="line 1: the block is never closed"):
        run("```python\nx = 1\n")


@pytest.mark.parametrize("label", ["", "pyhton"])
def test_a_block_says_what_it_is(label: str) -> None:
    """Code under a wrong label, or none, would escape every check."""
    with pytest.raises(SnippetError, match="line 1"):
        check_labels(blocks(f"```{label}\nx\n```\n"))


@pytest.mark.parametrize(
    "line",
    [
        "langgraph-prefetch replay runs.jsonl --latency 0.5 --json=out.json -v",
        "$ langgraph-prefetch replay a.jsonl \\\n    --latency 0.5",
        "LATENCY=1 langgraph-prefetch replay a.jsonl | grep --color x",
        "$ langgraph-prefetch replay a.jsonl\n--imaginary is only printed",
        "langgraph-prefetch --version  # which one?",
        "make demo --imaginary",
    ],
)
def test_a_right_command_line_passes(line: str) -> None:
    """Only our own command is looked at, up to the end of its own words."""
    check_commands(blocks(f"```console\n{line}\n```\n"), fake_help)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("langgraph-prefetch relay a.jsonl", "line 2: .*does not exist"),
        ("$ langgraph-prefetch replay a.jsonl --speed 3", "line 2: .*no option --speed"),
        ("ls\nlanggraph-prefetch replay \\\n  --speed=3", "line 3: .*no option --speed"),
        ("A=1 langgraph-prefetch replay -x", "no option -x"),
    ],
)
def test_a_wrong_command_line_fails(line: str, complaint: str) -> None:
    """A subcommand or an option that is gone is named with its line."""
    with pytest.raises(SnippetError, match=complaint):
        check_commands(blocks(f"```bash\n{line}\n```\n"), fake_help)


def test_lines_are_counted_across_continuations() -> None:
    """The line named is the one where the command begins."""
    (block,) = blocks("```bash\nlanggraph-prefetch a \\\n  b\nlanggraph-prefetch c\n```\n")
    assert list(command_lines(block)) == [(2, ["a", "b"]), (4, ["c"])]


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("raise SystemExit(3)", ""),
        ("import warnings; warnings.warn('old')", "UserWarning: old"),
        ("import socket; socket.create_connection(('192.0.2.1', 80))", "NetworkUsed"),
        ("import os; os.environ['OPENAI_API_KEY']", "KeyError"),
    ],
)
def test_a_broken_example_fails(code: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An example that fails, warns, leaves the machine or needs a key is not fit to be shown."""
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    (tmp_path / "example.py").write_text(code)
    result = run_example(tmp_path / "example.py", tmp_path)
    assert result.returncode != 0
    assert complaint in result.stderr


def test_a_working_example_passes(tmp_path: Path) -> None:
    """An example sees itself as the main program, in a folder where it may write."""
    (tmp_path / "example.py").write_text("open('out.txt', 'w').close()\nassert __name__ == '__main__'")
    assert run_example(tmp_path / "example.py", tmp_path).returncode == 0
    assert (tmp_path / "out.txt").exists()
