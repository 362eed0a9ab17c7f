"""``langgraph-prefetch version``."""

from __future__ import annotations

import argparse
from importlib import metadata
from typing import TYPE_CHECKING

from langgraph_prefetch.cli.command import add_command

if TYPE_CHECKING:
    from langgraph_prefetch.cli.command import Commands


def text() -> str:
    """The installed version; a source tree that is not installed has none."""
    try:
        return metadata.version("langgraph-prefetch")
    except metadata.PackageNotFoundError:
        return "unknown (not installed)"


def register(commands: Commands) -> None:
    """Add the command."""
    add_command(commands, "version", "print the version", _run)


def _run(_: argparse.Namespace) -> int:
    print(text())
    return 0
