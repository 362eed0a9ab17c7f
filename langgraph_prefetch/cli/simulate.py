"""``langgraph-prefetch simulate``: what an agent's flow does under load, before the machines are paid for."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

from langgraph_prefetch.cli.command import add_command
from langgraph_prefetch.cli.plan import flow_of
from langgraph_prefetch.errors import ConfigurationError

if TYPE_CHECKING:
    from langgraph_prefetch.cli.command import Commands
    from langgraph_prefetch.serving.flow import Flow
    from langgraph_prefetch.serving.simulator import Arrival, SimulationResult

_DESCRIPTION = """\
Play requests through an agent's stages in simulated time, with the very queues and policies that serve live: how many
miss their deadline under each policy, how long they take, and which stage is busy. The flow comes from recorded visits
or a file of `plan --save-flow`; requests come as they were recorded, or at a rate. It needs the extra serving."""

_EXAMPLES = """\
  langgraph-prefetch simulate events.jsonl --replicas search=2,write=8 --deadline 5
  langgraph-prefetch simulate --flow flow.json --budget cpu=16 --rate 20 --deadline 5
  langgraph-prefetch simulate --flow flow.json --budget cpu=16 --rate 2 --burst 10 --policy edf --report out/"""

POLICIES = ("fcfs", "edf", "slack")


def register(commands: Commands) -> None:
    """Add the command."""
    summary = "simulate an agent's stages under load"
    parser = add_command(commands, "simulate", summary, _run, description=_DESCRIPTION, examples=_EXAMPLES)
    parser.set_defaults(smoothing=0.0)
    add = parser.add_argument
    add("files", nargs="*", metavar="EVENTS", help="files that JsonlSink wrote: the flow, and when requests come")
    add("--graph", metavar="MODULE:NAME", help="the compiled graph, or a function that makes it")
    add("--constraints", type=Path, metavar="FILE", help="TOML: what a replica of each stage occupies, and more")
    add("--flow", type=Path, metavar="FILE", help="a flow that `plan --save-flow` wrote, in place of events")
    add("--replicas", action="append", metavar="STAGE=N", help="of each stage; repeatable, or with commas")
    add("--budget", action="append", metavar="NAME=N", help="plan the replicas under this budget instead")
    add("--rate", type=float, metavar="N", help="requests a second, at random (default: as they were recorded)")
    add("--seconds", type=float, default=600.0, metavar="S", help="with --rate: how long they come (default: 600)")
    add("--burst", type=float, metavar="N", help="with --rate: so many times as many for 10 s of each minute")
    add("--recorded", action="append", metavar="FILE", help="files of events that tell when requests come; repeatable")
    add("--times", type=float, default=1.0, metavar="N", help="play recorded requests so many times as fast")
    add("--deadline", type=float, metavar="S", help="seconds that a request may take (default: no deadline)")
    add("--policy", action="append", metavar="NAME", help="fcfs, edf, slack; repeatable (default: all three)")
    add("--max-waiting", type=int, default=1024, metavar="N", help="a longer queue refuses requests (default: 1024)")
    add("--seed", type=int, default=0, metavar="N", help="of all that is drawn (default: 0)")
    add("--json", action="store_true", help="print the figures as JSON")
    add("--report", type=Path, metavar="FOLDER", help="write tables and plots there; needs the extra eval")


def _run(arguments: argparse.Namespace) -> int:
    # Only who simulates waits for it to load.
    from langgraph_prefetch.serving.queueing.policies import policy_named
    from langgraph_prefetch.serving.simulator import simulate

    policies = [policy_named(name) for name in arguments.policy or POLICIES]
    flow = flow_of(arguments)
    replicas = _replicas(arguments, flow)
    arrivals = _arrivals(arguments)
    results = [
        simulate(
            flow,
            replicas,
            arrivals,
            policy,
            seed=arguments.seed,
            deadline_seconds=arguments.deadline,
            max_waiting=arguments.max_waiting,
        )
        for policy in policies
    ]
    if arguments.report is not None:
        from langgraph_prefetch.cli.simulate_report import write

        write(results, arguments.report)
    print(json.dumps([_as_json(each) for each in results], indent=2) if arguments.json else _text(results))
    return 0


def _replicas(arguments: argparse.Namespace, flow: Flow) -> dict[str, int]:
    if (arguments.replicas is None) == (arguments.budget is None):
        raise ConfigurationError("give --replicas search=2,write=8 or --budget cpu=16: how much there is to serve with")
    if arguments.budget is not None:
        from langgraph_prefetch.serving.planning import parse_budget, plan

        return dict(plan(flow, parse_budget(arguments.budget)).replicas)
    return parse_replicas(arguments.replicas)


def parse_replicas(words: Iterable[str]) -> dict[str, int]:
    """``["search=2", "write=8"]`` as replicas; one word may hold several with commas between them.

    Raises:
        ConfigurationError: a word that is not STAGE=N, or a stage twice.
    """
    found: dict[str, int] = {}
    for word in (part.strip() for each in words for part in each.split(",")):
        name, _, number = word.rpartition("=")
        if not name or not (number.isascii() and number.isdigit()):
            raise ConfigurationError(f"replicas are STAGE=N, such as search=2, not {word!r}")
        if name in found:
            raise ConfigurationError(f"replicas of {name!r} are given twice")
        found[name] = int(number)
    return found


def _arrivals(arguments: argparse.Namespace) -> Sequence[Arrival]:
    from langgraph_prefetch.serving.simulator import bursts, poisson, recorded

    if arguments.rate is not None:
        if arguments.recorded or arguments.times != 1.0:
            raise ConfigurationError("--rate draws when requests come: leave --recorded and --times out")
        if arguments.burst is None:
            return poisson(arguments.rate, arguments.seconds, seed=arguments.seed)
        return bursts(arguments.rate, arguments.seconds, times=arguments.burst, seed=arguments.seed)
    if arguments.burst is not None:
        raise ConfigurationError("--burst goes with --rate")
    files = arguments.recorded or arguments.files
    if not files:
        raise ConfigurationError("when do requests come? Give --rate 5, or --recorded with a file of events")
    return recorded(files, times=arguments.times)


def head() -> tuple[str, ...]:
    """Of the table of policies."""
    return ("policy", "requests", "late", "refused", "mean s", "p50 s", "p95 s", "p99 s", "requests/s")


def row(result: SimulationResult) -> tuple[str, ...]:
    """Of one policy."""
    times = (result.mean_seconds, *(result.percentile(share) for share in (0.5, 0.95, 0.99)))
    return (
        result.policy,
        f"{len(result.demand):,}",
        f"{result.violations:.1%}",
        f"{result.refused:,}",
        *(f"{seconds:.3g}" for seconds in times),
        f"{result.throughput:.3g}",
    )


def pool_head() -> tuple[str, ...]:
    """Of the table of pools."""
    return ("stage", "policy", "replicas", "visits", "busy", "mean wait s", "p95 wait s")


def pool_rows(results: Sequence[SimulationResult]) -> list[tuple[str, ...]]:
    """Of all policies, pool by pool."""
    return [
        (
            pool.name,
            result.policy,
            str(pool.replicas),
            f"{pool.visits:,}",
            f"{pool.utilisation:.0%}",
            f"{pool.mean_waited_seconds:.3g}",
            f"{pool.p95_waited_seconds:.3g}",
        )
        for place in range(len(results[0].pools))
        for result in results
        for pool in [result.pools[place]]
    ]


def _text(results: Sequence[SimulationResult]) -> str:
    tables = (_table(head(), [row(each) for each in results]), _table(pool_head(), pool_rows(results)))
    return f"{results[0].flow}: simulated {results[0].seconds:,.0f} s\n\n" + "\n\n".join(tables)


def _table(names: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(cells[at]) for cells in (names, *rows)) for at in range(len(names))]
    return "\n".join(
        "  ".join(cell.rjust(width) if at else cell.ljust(width) for at, (cell, width) in enumerate(pairs)).rstrip()
        for pairs in (list(zip(cells, widths, strict=True)) for cells in (names, *rows))
    )


def _as_json(result: SimulationResult) -> dict[str, object]:
    """Without numbers that JSON has no word for."""
    return {
        name: None if isinstance(value, float) and isnan(value) else value for name, value in result.as_json().items()
    }
