"""``langgraph-prefetch doctor``: what is there, what is missing, and what to do about it."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from langgraph_prefetch.cli.command import add_command
from langgraph_prefetch.cli.databases import look_at_database, look_at_embedded
from langgraph_prefetch.cli.findings import as_json, as_text, exit_code
from langgraph_prefetch.cli.installation import look_at_installation

if TYPE_CHECKING:
    from langgraph_prefetch.cli.command import Commands

_DESCRIPTION = """\
Say what is installed and what works. Without --url: Python, the package, its extras, and whether the embedded
PostgreSQL starts. With --url: whether the database can be reached, its versions, abilities and rights.

The exit code is 0 if all that was asked works, else 1. An extra that is not installed is no fault unless what was asked
needs it. No password is printed."""

_EXAMPLES = """\
  langgraph-prefetch doctor
  langgraph-prefetch doctor --url postgresql://me@db.example/notes
  langgraph-prefetch doctor --url embedded://notes --json"""


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, "doctor", "say what is there and what is missing", _run, description=_DESCRIPTION, examples=_EXAMPLES
    )
    parser.add_argument("--url", metavar="URL", help="a database: postgresql://… or embedded://NAME")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _run(arguments: argparse.Namespace) -> int:
    findings = look_at_installation()
    findings += [look_at_embedded()] if arguments.url is None else look_at_database(arguments.url)
    print(json.dumps(as_json(findings), indent=2) if arguments.json else as_text(findings))
    return exit_code(findings)
