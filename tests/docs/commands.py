"""Checks that the command lines in documents exist: the subcommand, and each option by its name."""

import functools
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tests.docs.snippets import SHELL, Block, SnippetError

COMMAND = "langgraph-prefetch"
_OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")
_ENDS = {"|", "||", "&&", ";", "&", ">", ">>", "<", "2>"}
_ASSIGNMENT = re.compile(r"\w+=")

Help = Callable[[tuple[str, ...]], str]


@functools.cache
def installed_help(subcommand: tuple[str, ...]) -> str:
    """Returns what the installed command prints about a subcommand."""
    program = Path(sys.executable).with_name(COMMAND)
    run = subprocess.run([program, *subcommand, "--help"], capture_output=True, text=True, check=False, timeout=30)
    if run.returncode:
        raise SnippetError(f"`{COMMAND} {' '.join(subcommand)}` does not exist: {run.stderr.strip()}")
    return run.stdout


def command_lines(block: Block) -> Iterator[tuple[int, list[str]]]:
    """Yields each call of our command in a shell block, with its line in the document.

    In a block with `$ ` prompts only the lines behind a prompt are commands; the rest is output.
    """
    prompts = any(line.startswith("$ ") for line in block.code.splitlines())
    joined = re.sub(r"\\\n", lambda _: "\\\0", block.code)
    number = block.line
    for line in joined.split("\n"):
        here, number = number, number + 1 + line.count("\0")
        if prompts and not line.startswith("$ "):
            continue
        words = _words(line.removeprefix("$ ").replace("\\\0", " "))
        if words[:1] == [COMMAND]:
            yield here, words[1:]


def _words(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in lexer:
        if word in _ENDS:
            break
        if words or not _ASSIGNMENT.match(word):
            words.append(word)
    return words


def check_commands(found: Iterable[Block], help_of: Help = installed_help) -> None:
    """Raises for the first command line whose subcommand or option the command does not have."""
    for block in found:
        if block.language not in SHELL:
            continue
        for line, words in command_lines(block):
            try:
                _check(words, help_of)
            except SnippetError as error:
                raise SnippetError(f"line {line}: {error}") from None


def _check(words: list[str], help_of: Help) -> None:
    subcommand = tuple(words[:1]) if words and not words[0].startswith("-") else ()
    known = set(_OPTION.findall(help_of(subcommand)))
    for word in words[len(subcommand) :]:
        option = word.partition("=")[0]
        if _OPTION.fullmatch(option) and option not in known:
            raise SnippetError(f"`{COMMAND} {' '.join(subcommand)}` has no option {option}")
