"""``langgraph-prefetch eval``. Its room needs extras, so it is only entered when it was asked for."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph_prefetch.cli.command import add_command
from langgraph_prefetch.errors import ConfigurationError

if TYPE_CHECKING:
    from langgraph_prefetch.cli.command import Commands
    from langgraph_prefetch.evaluation.reporting.values import SuiteReport, Summary
    from langgraph_prefetch.suites.contract import Planned, Spending

NAMES = ("speed", "study", "quality", "cost", "intent")
INPUTS = ("recordings", "rows", "prices")
DESCRIPTION = """\
Run an evaluation suite: speed, study, quality, cost, intent, or a suite's file of your own (.toml).

Without --model or --agent the agent's model is scripted, and its searches run on an embedded PostgreSQL. Rows, the
report as Markdown, HTML and JSON, and all else that was made go into one folder. The exit code is 1 if the report
says that the suite failed."""
EXAMPLES = """\
  langgraph-prefetch eval speed
  langgraph-prefetch eval quality --judge openai:gpt-5-mini --budget calls=200,money=1.5 --dry-run
  langgraph-prefetch eval speed --agent my_app.agent:make --tools search_docs --questions questions.jsonl
  langgraph-prefetch eval speed --resume"""


def register(commands: Commands) -> None:
    """Add the command."""
    summary = "measure speed, quality and cost of an agent, bare and wrapped"
    parser = add_command(commands, "eval", summary, run, description=DESCRIPTION, examples=EXAMPLES)
    add = parser.add_argument
    add("suite", metavar="SUITE", help=f"{', '.join(NAMES)}, or the path of a suite's file")
    add("--model", metavar="NAME", help="of the suite's own agent, as LangChain names it; the scripted one if left out")
    add("--agent", metavar="MODULE:FACTORY", help="a function that returns your own compiled graph, asked instead")
    add("--tools", metavar="NAMES", help="the search tools of your agent, with commas between (default: search)")
    add("--questions", type=Path, metavar="FILE", help="JSONL with 'question' in each line, asked instead")
    add("--judge", action="append", default=[], metavar="NAME", help="a model that judges; several vote")
    add("--budget", type=_budget, metavar="LIMITS", help="stop there: calls=200,money=1.5 (of judges)")
    several: Any = {"type": Path, "action": "extend", "nargs": "+", "metavar": "FILE"}
    add("--recordings", **several, help="recorded thoughts, for the suite 'intent'")
    add("--rows", **several, help="rows of an earlier run, or its folder, for the suites 'cost' and 'quality'")
    add("--prices", type=Path, action="append", metavar="FILE", help="a price file of your own")
    add("--target", default="local", metavar="WHERE", help="local, or for the suite 'study' aws: your own account")
    add("--seed", type=int, metavar="N", help="of every random choice (default: the one in the suite's file)")
    add("--out", type=Path, metavar="DIR", help="where everything goes (default: evaluations/SUITE)")
    add("--resume", action="store_true", help="go on with what stands there; nothing is paid for twice")
    add("--smoke", action="store_true", help="small and scripted, to see that it works; its figures mean nothing")
    add("--dry-run", action="store_true", help="say what would be done and what it may cost, and do nothing")


def run(arguments: argparse.Namespace) -> int:
    """Run a suite, or say what it would do.

    Returns:
        0; 1 if the report has failures.

    Raises:
        PrefetchError: wrong input, or something that the suite needs does not work.
    """
    from langgraph_prefetch.suites.running import Request, prepare

    inputs = {name: tuple(getattr(arguments, name)) for name in INPUTS if getattr(arguments, name)}
    request = Request(
        suite=arguments.suite,
        out=arguments.out,
        seed=arguments.seed,
        smoke=arguments.smoke,
        resume=arguments.resume,
        model=arguments.model,
        judges=tuple(arguments.judge),
        agent=arguments.agent,
        tools=_names(arguments.tools),
        questions=arguments.questions,
        inputs=inputs,
        target=arguments.target,
        budget=_spending(arguments.budget or {}),
    )
    prepared = prepare(request, _say)
    planned = prepared.plan()
    if arguments.dry_run:
        print("\n".join(plan_lines(prepared.file.suite, planned)))
        return 0
    _say("\n".join(plan_lines(prepared.file.suite, planned)))
    report = prepared.run()
    from langgraph_prefetch.evaluation.reporting import write_report

    written = write_report(report, prepared.context.out)
    print("\n".join(report_lines(report)))
    print(f"\nreport: {written.html}, {written.markdown}")
    return int(bool(report.failures))


def plan_lines(suite: str, planned: Planned) -> list[str]:
    """What a suite would do, as lines."""
    first = f"{suite}: {planned.runs} runs of the agent, {planned.judge_calls} calls of judges"
    if planned.seconds is not None:
        first += f", about {_duration(planned.seconds)}"
    spent = planned.spending
    money = [f"expected to cost {spent.money:.4g} (currency of the price file)"] if spent.money else []
    return [first, *money, *planned.notes]


def report_lines(report: SuiteReport) -> list[str]:
    """The closing table, the limitations and the failures, as lines."""
    lines = [
        report.title,
        "",
        *_summary_lines(report.summary),
        "",
        *(f"Limitation: {each}" for each in report.limitations),
    ]
    return [*lines, *(f"FAILED: {each}" for each in report.failures)]


def _summary_lines(summary: Summary) -> list[str]:
    rows = [
        (part, figure.name, figure.value, figure.note)
        for part in ("speed", "quality", "cost")
        for figure in getattr(summary, part)
    ]
    widths = [max((len(row[place]) for row in rows), default=0) for place in range(3)]
    return [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row[:3], widths, strict=True)), row[3]]).rstrip()
        for row in rows
    ]


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _names(given: str | None) -> tuple[str, ...]:
    if given is None:
        return ("search",)
    names = tuple(each.strip() for each in given.split(",") if each.strip())
    if not names:
        raise ConfigurationError("--tools needs the names of the search tools, with commas between")
    return names


def _budget(given: str) -> dict[str, float]:
    limits: dict[str, float] = {}
    for part in given.split(","):
        name, _, amount = part.strip().partition("=")
        if name not in ("calls", "money") or name in limits:
            raise argparse.ArgumentTypeError(f"{given!r} is not such as calls=200,money=1.5")
        try:
            limits[name] = float(amount)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{amount!r} is no number") from None
        if not (math.isfinite(limits[name]) and limits[name] >= 0):
            raise argparse.ArgumentTypeError(f"{name} must be 0 or more, not {amount}")
        if name == "calls" and limits[name] != int(limits[name]):
            raise argparse.ArgumentTypeError(f"calls is a whole number, not {amount}")
    return limits


def _spending(limits: dict[str, float]) -> Spending:
    from langgraph_prefetch.suites.contract import Spending

    calls = limits.get("calls")
    return Spending(calls=None if calls is None else int(calls), money=limits.get("money"))


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
