"""How a command is registered."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

Runs = Callable[[argparse.Namespace], int]


def add_command(
    commands: Commands, name: str, summary: str, run: Runs, *, description: str = "", examples: str = ""
) -> argparse.ArgumentParser:
    """Add a command whose ``run`` returns the exit code."""
    parser = commands.add_parser(
        name,
        help=summary,
        description=description or summary[:1].upper() + summary[1:] + ".",
        epilog=f"examples:\n{examples}" if examples else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser
