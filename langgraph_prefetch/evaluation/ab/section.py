"""An experiment's report as a section of an evaluation's, for Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterable

from langgraph_prefetch.evaluation.ab.compare import Measure, VariantReport
from langgraph_prefetch.evaluation.reporting.values import Block, Distributions, Section, Table, Text
from langgraph_prefetch.evaluation.statistics.values import Estimate
from langgraph_prefetch.observe.variants import VariantRun


def section_of(
    report: VariantReport, runs: Iterable[VariantRun] = (), *, measure: Measure = lambda run: run.seconds
) -> Section:
    """Warnings first, then the variants, then how they differ; with ``runs``, how their measure is distributed."""
    blocks: list[Block] = []
    if report.warnings:
        blocks.append(Text(paragraphs=tuple(f"Warning: {each}." for each in report.warnings)))
    blocks += [_variants(report), _differences(report)]
    series: dict[str, list[float]] = {each.name: [] for each in report.variants if each.units}
    for run in runs:
        if run.unit is not None and run.variant in series:
            series[run.variant].append(measure(run))
    if any(series.values()):
        drawn = {name: tuple(values) for name, values in series.items() if values}
        blocks.append(Distributions(caption="Runs of each variant", unit=report.measure, series=drawn))
    return Section(title=f"Experiment {report.experiment}", blocks=tuple(blocks))


def _variants(report: VariantReport) -> Table:
    rows = tuple(
        (
            each.name,
            str(each.runs),
            str(each.units),
            _shown(each.median),
            _shown(each.mean),
            _shown(each.p95),
            "-" if each.served_share is None else f"{each.served_share:.0%}",
            f"{each.hidden_seconds:.3g}",
            f"{each.wasted:.3g}",
        )
        for each in report.variants
    )
    p = report.split.p_value
    split = "no keys yet" if p is None else f"the keys fell as the weights say with p = {p:.2g}"
    return Table(
        caption=f"Variants, by {report.measure}",
        head=("variant", "runs", "keys", "median", "mean", "p95", "served", "hidden s a run", "wasted a run"),
        rows=rows,
        note=split,
    )


def _differences(report: VariantReport) -> Table:
    rows = []
    for pair, tendency in zip(report.comparisons, report.tendencies, strict=True):
        effect = pair.result.effect if pair.result.effect is not None else Estimate(value=None)
        delta = tendency.effect if tendency.effect is not None else Estimate(value=None)
        p = "-" if pair.adjusted_p is None else f"{pair.adjusted_p:.2g}"
        rows.append((pair.second, _shown(effect), p, _shown(delta)))
    return Table(
        caption=f"Against {report.baseline}, one number for each key",
        head=("variant", "ratio of geometric means", "p, after Holm", "Cliff's delta"),
        rows=tuple(rows),
        note="A ratio below 1, a delta below 0: less than the baseline.",
    )


def _shown(estimate: Estimate) -> str:
    if estimate.value is None:
        return "-"
    if estimate.interval is None:
        return f"{estimate.value:.3g}"
    return f"{estimate.value:.3g} ({estimate.interval.low:.3g} to {estimate.interval.high:.3g})"
