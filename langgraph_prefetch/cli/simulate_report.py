"""Tables and plots of ``langgraph-prefetch simulate --report``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from langgraph_prefetch.cli.simulate import head, pool_head, pool_rows, row
from langgraph_prefetch.evaluation.reporting import write_report
from langgraph_prefetch.evaluation.reporting.values import (
    Block,
    Distributions,
    Figure,
    Lines,
    Section,
    SuiteReport,
    Summary,
    Table,
)

if TYPE_CHECKING:
    from langgraph_prefetch.serving.simulator import SimulationResult

LIMITATIONS = (
    "Simulated: the network between stages, what replicas do to each other on one machine, failures and callers that "
    "give up are left out.",
    "Service times are drawn by themselves: that long questions are long in every stage is not in them.",
)
MAX_POINTS = 200


def write(results: Sequence[SimulationResult], folder: Path) -> None:
    """Write ``report.json``, ``report.md`` and ``report.html``.

    Raises:
        ReportError: the folder cannot be written.
        MissingExtraError: what draws the plots is not installed.
    """
    first = results[0]
    served = {each.policy: each.times for each in results if each.times}
    blocks: list[Block] = [
        Table(caption="Policies", head=head(), rows=tuple(row(each) for each in results)),
        Distributions(caption="Seconds of each request", unit="s", series=served),
        Lines(
            caption="Share of requests that took longer",
            x="seconds",
            y="share",
            series={name: _longer(times) for name, times in served.items()},
        ),
    ]
    pools = Table(caption="Stages", head=pool_head(), rows=tuple(pool_rows(results)))
    report = SuiteReport(
        suite="simulation",
        title=f"{first.flow} under load",
        hypotheses=(),
        settings={"flow": first.flow, "requests": str(len(first.requests)), "seed": str(first.seed)},
        sections=(
            Section(title="Requests", blocks=tuple(blocks)),
            Section(title="Stages", blocks=(pools,)),
        ),
        summary=Summary(
            speed=tuple(
                Figure(name=f"late, {each.policy}", value=f"{each.violations:.1%}", note="of the requests")
                for each in results
            )
        ),
        limitations=LIMITATIONS,
    )
    write_report(report, folder)


def _longer(times: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """(seconds, share of the requests that took longer), at most some hundred points."""
    count, step = len(times), max(1, len(times) // MAX_POINTS)
    return tuple((times[at], (count - 1 - at) / count) for at in range(0, count, step))
