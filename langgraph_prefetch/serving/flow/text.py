"""Flows and plans as text: aligned tables, and Mermaid for a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from langgraph_prefetch.serving.flow.values import END, START, FlowValues, Stage


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns under their heads; the first is flush left, the others flush right. Ends with a line break."""
    lines = [list(head), *map(list, rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(head))]
    text = []
    for line in lines:
        cells = [
            line[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)),
        ]
        text.append("  ".join(cells).rstrip())
    text.insert(1, "-" * (sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join(text) + "\n"


def flow_text(flow: FlowValues) -> str:
    """Stages, edges and notes."""
    stages = table(
        ("stage", "occupies", "visits", "seconds", "±", "at once", "γ", "a second", "cold", "price", "state", "least"),
        [_row(each) for each in flow.stages],
    )
    edges = table(
        ("from", "to", "p", "taken"),
        [(each.source, each.target, f"{each.probability:.3f}", str(each.taken)) for each in flow.edges],
    )
    notes = "".join(f"- {each}\n" for each in flow.notes)
    return f"{flow.name}\n\n{stages}\n{edges}" + (f"\n{notes}" if notes else "")


def mermaid(flow: FlowValues, replicas: Mapping[str, int] | None = None, bottleneck: str | None = None) -> str:
    """The flow as a Mermaid flowchart, with replicas and the bottleneck of a plan if they are given."""
    ids = {START: "start", END: "end_"} | {each.name: f"s{place}" for place, each in enumerate(flow.stages)}
    lines = ["flowchart LR", '    start(["start"])', '    end_(["end"])']
    for each in flow.stages:
        seconds = "not measured" if each.service is None else f"{each.service.mean:.3g} s"
        times = "" if replicas is None else f" × {replicas.get(each.name, 0)}"
        lines.append(f'    {ids[each.name]}["{_quoted(each.name)}{times}<br/>{seconds}"]')
    for edge in flow.edges:
        arrow = "-.->" if edge.conditional else "-->"
        if edge.probability > 0 and edge.source in ids and edge.target in ids:
            lines.append(f"    {ids[edge.source]} {arrow}|{edge.probability:.2f}| {ids[edge.target]}")
    if bottleneck in ids:
        lines.append(f"    style {ids[bottleneck]} stroke-width:4px")
    return "\n".join(lines) + "\n"


def amounts(resources: Mapping[str, float]) -> str:
    """``cpu=2 gpu=0.5``; ``-`` for nothing."""
    return " ".join(f"{name}={amount:g}" for name, amount in resources.items()) or "-"


def _row(stage: Stage) -> tuple[str, ...]:
    service = stage.service
    return (
        stage.name,
        " | ".join((amounts(stage.resources), *(f"{e.name}: {amounts(e.resources)}" for e in stage.placements))),
        str(stage.visits),
        "-" if service is None else f"{service.mean:.4g}",
        "-" if service is None else f"{service.variation:.2f}",
        str(stage.concurrency),
        f"{stage.amplification:.3g}",
        "-" if stage.rate is None else f"{stage.rate:.4g}",
        f"{stage.cold_start_seconds:.3g}",
        f"{stage.price_per_visit:.3g}",
        "kept" if stage.stateful else "-",
        str(stage.min_replicas),
    )


def _quoted(name: str) -> str:
    return "".join(f"#{ord(each)};" if each in '"<>&#;[]{}()|' else each for each in name)
