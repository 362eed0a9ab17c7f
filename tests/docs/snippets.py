"""Finds the code in Markdown and runs it, so that no document can promise what the package does not do."""

import ast
import asyncio
import inspect
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

_FENCE = re.compile(r"(?P<indent>[ \t]*(?:> ?)*)(?P<ticks>`{3,}|~{3,})[ \t]*(?P<language>[\w+-]*)")
_NO_RUN = re.compile(r"[ \t]*<!--\s*no-run:(?P<reason>.*?)-->\s*$")
_SETUP = re.compile(r"[ \t]*<!--\s*setup:\s*$")

PYTHON = {"python", "py", "python3"}
SHELL = {"console", "bash", "sh", "shell"}
# What else a block may be; one without a known label would escape every check.
PLAIN = {"text", "json", "jsonl", "toml", "yaml", "ini", "sql", "mermaid", "dockerfile", "makefile", "diff", "xml"}


class SnippetError(Exception):
    """A block of a document is not what it says it is."""


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of code; `line` is where its first line stands in the document, counted from one."""

    language: str
    code: str
    line: int
    no_run: bool = False


def blocks(text: str) -> Iterator[Block]:
    """Yields the fenced blocks of a document and its hidden setup, in order.

    `<!-- no-run: reason -->` on the line before a block keeps it from running.
    `<!-- setup:`, code and `-->`, each on lines of their own, is Python that readers do not see.
    """
    lines = iter(enumerate(text.splitlines(), start=1))
    before = ""
    for number, line in lines:
        if _SETUP.match(line):
            yield Block("python", _until(lines, "-->", number), number + 1)
        elif fence := _FENCE.match(line):
            marker = _NO_RUN.match(before)
            if marker and not marker["reason"].strip():
                raise SnippetError(f"line {number - 1}: no-run needs a reason")
            code = _until(lines, fence["ticks"], number, indent=fence["indent"])
            yield Block(fence["language"].lower(), code, number + 1, no_run=bool(marker))
        elif _NO_RUN.match(before):
            raise SnippetError(f"line {number - 1}: no-run stands before no block")
        before = line


def _until(lines: Iterator[tuple[int, str]], end: str, start: int, indent: str = "") -> str:
    body: list[str] = []
    for _, line in lines:
        line = line.removeprefix(indent)
        if line.strip() == end or (end[0] in "`~" and line.strip().startswith(end) and not line.strip(f" {end[0]}")):
            return textwrap.dedent("\n".join(body)) + "\n"
        body.append(line)
    raise SnippetError(f"line {start}: the block is never closed")


def check_labels(found: Iterable[Block]) -> None:
    """Raises unless each block says what it is."""
    for block in found:
        if block.language not in PYTHON | SHELL | PLAIN:
            raise SnippetError(f"line {block.line - 1}: label {block.language!r} is none of the known; `text` is one")


def run_python(found: Iterable[Block], file: Path) -> None:
    """Runs a document's Python blocks in order and in one namespace; those marked no-run are only compiled.

    A top-level `await` is allowed. Tracebacks point at the line of the document.
    """
    module = ModuleType(f"snippets_{re.sub(r'[^a-z0-9]', '_', file.stem.lower())}")
    sys.modules[module.__name__] = module  # dataclasses and type hints look their module up
    try:
        with asyncio.Runner() as runner:
            for block in found:
                if block.language in PYTHON:
                    _run(block, file, module, runner)
    finally:
        del sys.modules[module.__name__]


def _run(block: Block, file: Path, module: ModuleType, runner: asyncio.Runner) -> None:
    padded = "\n" * (block.line - 1) + block.code
    code = compile(padded, str(file), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    if block.no_run:
        return
    if code.co_flags & inspect.CO_COROUTINE:

        async def run() -> None:
            await eval(code, module.__dict__)

        runner.run(run())
    else:
        exec(code, module.__dict__)
