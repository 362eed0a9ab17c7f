"""``langgraph-prefetch timeline``: recorded events as a page or a picture."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from langgraph_prefetch.cli.command import add_command
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.events import Event, OfNoRun
from langgraph_prefetch.observe.event_file import EventFile, read_events
from langgraph_prefetch.observe.timeline import write_timeline

if TYPE_CHECKING:
    from langgraph_prefetch.cli.command import Commands

_DESCRIPTION = """\
Draw recorded runs: each model call's tokens over time, each speculation with its fate, each search call with what it
waited and what was hidden. The page stands by itself and opens in any browser; a PNG is drawn by an installed Chromium
or Chrome. Events are recorded by JsonlSink. Of many runs the latest are drawn."""

_EXAMPLES = """\
  langgraph-prefetch timeline events.jsonl
  langgraph-prefetch timeline events.jsonl.1 events.jsonl --out page.html
  langgraph-prefetch timeline events.jsonl --run 4c1-17 --out run.png"""


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(commands, "timeline", "draw recorded runs", _run, description=_DESCRIPTION, examples=_EXAMPLES)
    add = parser.add_argument
    add("files", nargs="+", metavar="EVENTS", help="files that JsonlSink wrote, the oldest first")
    add(
        "--out",
        type=Path,
        default=Path("timeline.html"),
        metavar="PATH",
        help="ends in .html or .png (default: %(default)s)",
    )
    add("--png", action="store_true", help="a picture beside the page")
    add("--run", action="append", dest="run_ids", metavar="ID", help="only this run; may be given several times")
    add("--title", metavar="TEXT", help="the heading")
    add("--browser", metavar="PATH", help="what draws a PNG (default: one that is installed)")


def _run(arguments: argparse.Namespace) -> int:
    events = list(_events(arguments.files))
    if arguments.run_ids:
        events = _of_runs(events, arguments.run_ids)
    targets = [arguments.out]
    if arguments.png and arguments.out.suffix.lower() != ".png":
        targets.append(arguments.out.with_suffix(".png"))
    for target in targets:
        print(write_timeline(events, target, title=arguments.title, browser=arguments.browser))
    return 0


def _events(paths: Sequence[str]) -> Iterator[Event]:
    for path in paths:
        file = read_events(path)
        yield from file
        _complain(file)


def _complain(file: EventFile) -> None:
    for line in file.malformed:
        print(f"skipped {line}", file=sys.stderr)
    if file.skipped:
        print(f"{file.file}: lines skipped: {file.skipped}", file=sys.stderr)
    for kind, count in file.unknown.items():
        print(f"{file.file}: events of an unknown type: {count} {kind}", file=sys.stderr)


def _of_runs(events: Sequence[Event], wanted: Sequence[str]) -> list[Event]:
    """The events of these runs.

    Raises:
        ConfigurationError: a run that is not among them.
    """
    known = dict.fromkeys(event.run_id for event in events if not isinstance(event, OfNoRun))
    for run_id in wanted:
        if run_id not in known:
            shown = ", ".join(list(known)[:10]) + (", …" if len(known) > 10 else "")
            raise ConfigurationError(f"no run {run_id!r} among the events. Runs: {shown or 'none'}")
    return [event for event in events if not isinstance(event, OfNoRun) and event.run_id in wanted]
