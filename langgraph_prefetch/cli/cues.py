"""``langgraph-prefetch cues``: the words that say a search is coming."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from langgraph_prefetch.cli.command import add_command
from langgraph_prefetch.intent.cues import LANGUAGES, CueSet, default_cues

if TYPE_CHECKING:
    from langgraph_prefetch.cli.command import Commands

_EXAMPLES = """\
  langgraph-prefetch cues
  langgraph-prefetch cues --language ko"""


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "cues",
        "print the cues by which a coming search is recognised",
        _run,
        description="Print the cues by which a coming search is recognised, one a line: name, role, weight, phrases.",
        examples=_EXAMPLES,
    )
    parser.add_argument("--language", choices=LANGUAGES, help="only this language's cues (default: all)")


def _run(arguments: argparse.Namespace) -> int:
    cues = default_cues()
    if arguments.language is not None:
        cues = CueSet(tuple(cue for cue in cues.cues if cue.language == arguments.language))
    print(cues.describe())
    return 0
