"""Parses the command line and turns errors of ours into one line and an exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from langgraph_prefetch.cli import (
    advise,
    cues,
    demo,
    doctor,
    fit,
    index,
    plan,
    replay,
    search,
    simulate,
    timeline,
    version,
    worker,
)
from langgraph_prefetch.cli import eval as evaluation
from langgraph_prefetch.errors import PrefetchError

PROGRAM = "langgraph-prefetch"
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
    demo.register(commands, chosen=words[:1] == ["demo"])
    index.register(commands)
    search.register(commands)
    replay.register(commands)
    advise.register(commands)
    evaluation.register(commands)
    fit.register(commands)
    plan.register(commands)
    simulate.register(commands)
    timeline.register(commands)
    cues.register(commands)
    worker.register(commands)
    doctor.register(commands)
    version.register(commands)
    return parser
