"""Parses the command line and turns errors of ours into one line and an exit code."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from langgraph_prefetch.cli import version
from langgraph_prefetch.errors import PrefetchError

PROGRAM = "langgraph-prefetch"
COMMANDS = (
    *("demo", "index", "search", "replay", "advise", "eval", "fit", "plan", "simulate", "timeline", "cues", "worker"),
    *("doctor", "version"),
)
"""In the order in which help shows them; each is a module of this room."""
OK, UNEXPECTED, WRONG_INPUT, INTERRUPTED = 0, 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: its words; those of the process if None.

    Returns:
        The exit code: 0 done, 1 done and what was examined is at fault, 2 wrong use or wrong input, 130 interrupted.
        Anything unexpected is raised, which Python reports with exit code 1.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        arguments = _parser(words).parse_args(words)
        code = int(arguments.run(arguments))
        sys.stdout.flush()
    except PrefetchError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return WRONG_INPUT
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output, say `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    return code


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Start an agent's searches while its model is still thinking: measure it, try it, look inside.",
        epilog=f"`{PROGRAM} COMMAND --help` shows a command's options and examples.",
    )
    parser.add_argument("--version", action="version", version=version.text())
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in words[:1] if words and words[0] in COMMANDS else COMMANDS:  # the others' imports take a second
        module = importlib.import_module(f"langgraph_prefetch.cli.{name}")
        if name == "demo":
            module.register(commands, chosen=words[:1] == ["demo"])
        else:
            module.register(commands)
    return parser
