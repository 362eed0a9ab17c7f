"""``langgraph-prefetch demo``. Its room needs an extra, so it is only entered when it was asked for."""

from __future__ import annotations

import argparse
import importlib
from typing import TYPE_CHECKING, Protocol, cast

from langgraph_prefetch.cli.command import add_command
from langgraph_prefetch.errors import ConfigurationError

if TYPE_CHECKING:
    from langgraph_prefetch.cli.command import Commands

_ROOM = "langgraph_prefetch.demo"


class _Room(Protocol):
    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, arguments: argparse.Namespace) -> int: ...


def register(commands: Commands, *, chosen: bool) -> None:
    """Add the command, with its options only if it was ``chosen``.

    Raises:
        MissingExtraError: chosen, and a library that it needs is not installed.
        ConfigurationError: chosen, and the demo is not part of this installation.
    """
    summary = "run an agent bare and wrapped, side by side"
    if not chosen:
        add_command(commands, "demo", summary, _never)
        return
    room = _enter()
    room.add_arguments(add_command(commands, "demo", summary, room.run))


def _enter() -> _Room:
    try:
        return cast("_Room", importlib.import_module(_ROOM))
    except ModuleNotFoundError as error:
        if error.name != _ROOM:
            raise
        raise ConfigurationError("the demo is not part of this installation") from error


def _never(_: argparse.Namespace) -> int:
    raise AssertionError("options come before the command's name only by way of `main`")
