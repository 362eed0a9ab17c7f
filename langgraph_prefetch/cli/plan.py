"""``langgraph-prefetch plan``: how many replicas each stage gets, from recorded runs and a budget."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph_prefetch.cli.command import add_command
from langgraph_prefetch.cli.files import check_writable, write
from langgraph_prefetch.errors import ConfigurationError, FlowError, did_you_mean
from langgraph_prefetch.events import Event
from langgraph_prefetch.observe.event_file import read_events
from langgraph_prefetch.serving.flow import Flow, StageConstraints

if TYPE_CHECKING:
    from langgraph_prefetch.cli.command import Commands

_DESCRIPTION = """\
Say from recorded runs how many replicas each stage of an agent gets under a budget, so that it serves the most requests
a second: the bottleneck, and what another unit of each resource would buy. Visits are recorded by VisitRecorder, a
callback handler, or by pools. With --graph the edges that were never taken count too, and constraints that are declared
on the nodes' functions. It needs the extra serving."""

_EXAMPLES = """\
  langgraph-prefetch plan events.jsonl --budget cpu=16
  langgraph-prefetch plan events.jsonl --graph my_app.agent:make --constraints stages.toml --budget cpu=16,gpu=2
  langgraph-prefetch plan --flow flow.json --budget cpu=16 --mermaid"""

_KEYS = (
    *("resources", "stateful", "min_instances", "concurrency"),
    *("cold_start_seconds", "price_per_visit", "service_seconds"),
)


def register(commands: Commands) -> None:
    """Add the command."""
    summary = "plan replicas of each stage under a budget"
    parser = add_command(commands, "plan", summary, _run, description=_DESCRIPTION, examples=_EXAMPLES)
    add = parser.add_argument
    add("files", nargs="*", metavar="EVENTS", help="files that JsonlSink wrote, the oldest first")
    add("--budget", action="append", required=True, metavar="NAME=N", help="of a resource, such as cpu=16; repeatable")
    add("--graph", metavar="MODULE:NAME", help="the compiled graph, or a function that makes it")
    add("--flow", type=Path, metavar="FILE", help="a flow that --save-flow wrote, in place of events")
    add("--constraints", type=Path, metavar="FILE", help="TOML: what a replica of each stage occupies, and more")
    add("--smoothing", type=float, default=0.0, metavar="N", help="visits added to each edge of the graph (default: 0)")
    add("--save-flow", type=Path, metavar="OUT", help="write the measured flow there, as JSON")
    add("--json", action="store_true", help="print the plan as JSON")
    add("--mermaid", action="store_true", help="print a flowchart with the replicas")


def _run(arguments: argparse.Namespace) -> int:
    # Only who plans waits for the solver to load.
    from langgraph_prefetch.serving.planning import parse_budget, plan

    budget = parse_budget(arguments.budget)
    if arguments.save_flow is not None:
        check_writable(arguments.save_flow)
    flow = flow_of(arguments)
    if arguments.save_flow is not None:
        write(arguments.save_flow, flow.to_json() + "\n")
    planned = plan(flow, budget)
    if arguments.json:
        print(json.dumps(planned.as_json(), indent=2, ensure_ascii=False))
    if arguments.mermaid:
        print(planned.mermaid(), end="")
    if not (arguments.json or arguments.mermaid):
        print(flow, planned.explain(), sep="\n", end="")
    return 0


def flow_of(arguments: argparse.Namespace) -> Flow:
    """The flow that was measured: of files of events, or of a file that holds one.

    Raises:
        ConfigurationError: both or neither were given, or one of them cannot be read.
        FlowError: they hold no flow.
    """
    if (arguments.flow is None) == (not arguments.files):
        raise ConfigurationError("give files of events, or --flow with a flow that was measured before")
    if arguments.flow is not None:
        if arguments.graph or arguments.constraints:
            raise ConfigurationError("--flow holds graph and constraints already: leave --graph and --constraints out")
        return Flow.from_json(_text(arguments.flow))
    constraints = {} if arguments.constraints is None else _constraints(arguments.constraints)
    events = _events(arguments.files)
    if arguments.graph is None:
        if arguments.smoothing:
            raise ConfigurationError("--smoothing needs --graph: without it only edges that were taken are known")
        return Flow.from_events(events, constraints=constraints)
    graph = _graph(arguments.graph)
    return Flow.from_graph(graph, events, constraints=constraints, smoothing=arguments.smoothing)


def _events(paths: Sequence[str]) -> Iterator[Event]:
    for path in paths:
        file = read_events(path)
        yield from file
        if file.skipped:
            print(f"{path}: lines skipped: {file.skipped}", file=sys.stderr)


def _constraints(path: Path) -> dict[str, StageConstraints]:
    """What a file says of stages: a table for each, named like the stage.

    Raises:
        ConfigurationError: it cannot be read; the message names the stage and key.
    """
    try:
        found = tomllib.loads(_text(path))
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path} is no TOML: {error}") from None
    return {name: _constraint(path, name, table) for name, table in found.items()}


def _constraint(path: Path, name: str, table: object) -> StageConstraints:
    if not isinstance(table, Mapping):
        raise ConfigurationError(f"{path}: {name!r} is no table of a stage; write [{name}] and its keys below")
    for key in table:
        if key not in _KEYS:
            raise ConfigurationError(f"{path}: stage {name!r} has the key {key!r}.{did_you_mean(key, _KEYS)}")
    try:
        return StageConstraints(**table)
    except (TypeError, AttributeError):
        raise ConfigurationError(f"{path}: a value of stage {name!r} is of the wrong type") from None
    except FlowError as error:
        raise ConfigurationError(f"{path}: stage {name!r}: {error}") from None


def _graph(name: str) -> Any:
    """The graph of a user.

    Raises:
        ConfigurationError: it cannot be imported or made.
    """
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise ConfigurationError(f"--graph is module:name, such as my_app.agent:make, not {name!r}")
    if "" not in sys.path:
        sys.path.insert(0, "")  # as `python -m` would
    try:
        found = getattr(importlib.import_module(module), attribute)
        return found if hasattr(found, "get_graph") else found()
    except Exception as error:
        raise ConfigurationError(f"cannot make {name!r}: {type(error).__name__}: {error}") from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise ConfigurationError(f"cannot read {path}: {reason}") from error
