"""Compare the variants of an experiment by a number of each run, such as its seconds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from langgraph_prefetch.errors import SampleError
from langgraph_prefetch.evaluation.statistics.bootstrap import RESAMPLES
from langgraph_prefetch.evaluation.statistics.corrections import holm
from langgraph_prefetch.evaluation.statistics.describe import mean, median, p95
from langgraph_prefetch.evaluation.statistics.proportions import sample_ratio
from langgraph_prefetch.evaluation.statistics.ratios import ratio_between
from langgraph_prefetch.evaluation.statistics.samples import share
from langgraph_prefetch.evaluation.statistics.two_samples import mann_whitney
from langgraph_prefetch.evaluation.statistics.values import Comparison, Estimate, TestResult
from langgraph_prefetch.observe.variants import VariantRun

ALARM = 0.001
"""A split less likely than this under its own weights is no accident (Fabijan et al., KDD 2019)."""

Measure = Callable[[VariantRun], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantFigures:
    """One variant.

    Attributes:
        name: of the variant.
        runs: how many, of ``units`` different keys; ``unkeyed`` runs had none and are not compared.
        mean, median, p95: of the measure, over runs with a key.
        served_share: of search calls; None without any.
        hidden_seconds, speculations, wasted: per run.
        failed_calls: of search calls, all together.
    """

    name: str
    runs: int
    units: int
    unkeyed: int
    mean: Estimate
    median: Estimate
    p95: Estimate
    served_share: float | None
    hidden_seconds: float
    speculations: float
    wasted: float
    failed_calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantReport:
    """An experiment's figures.

    Attributes:
        experiment, baseline: their names; every other variant is compared with the baseline.
        measure: what was compared, such as ``seconds``.
        variants: in the order of the weights.
        split: whether the keys fell as the weights say.
        comparisons: of each other variant with the baseline, as the second: ratio of geometric means over keys,
            p-values corrected after Holm.
        tendencies: the same pairs by Mann and Whitney, which does not care how long the longest took.
        warnings: why the comparison may not be believed; empty if nothing speaks against it.
    """

    experiment: str
    baseline: str
    measure: str
    variants: tuple[VariantFigures, ...]
    split: TestResult
    comparisons: tuple[Comparison, ...]
    tendencies: tuple[TestResult, ...]
    warnings: tuple[str, ...]


def compare(
    runs: Iterable[VariantRun],
    weights: Mapping[str, float],
    *,
    experiment: str,
    baseline: str | None = None,
    measure: Measure = lambda run: run.seconds,
    measure_name: str = "seconds",
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> VariantReport:
    """Compare the variants.

    What is assigned is the key, so the key is what is counted: the runs of one key are one observation, their geometric
    mean. Taking each run for one would find differences that are those of a few busy users (Deng, Knoblich & Lu,
    *Applying the Delta Method in Metric Analytics*, KDD 2018). Runs without a key are counted and left out.

    Args:
        runs: as :class:`~langgraph_prefetch.observe.variants.VariantRuns` keeps them.
        weights: as the experiment dealt them out while these runs were made.
        experiment: its name.
        baseline: the variant that others are compared with; the first of the weights if None.
        measure: the number of a run, above zero.
        measure_name: what it is called.
        level: of the intervals.
        seed: of the bootstrap of mean, median and p95.
        resamples: how many of them.

    Raises:
        SampleError: a run of a variant without a weight; fewer than two variants; a measure that is not above zero.
    """
    share(level, "level")
    names = [name for name, weight in weights.items() if weight > 0]
    baseline = baseline if baseline is not None else (names or [""])[0]
    if len(names) < 2 or baseline not in names:
        raise SampleError(f"comparing takes two variants with weights, the baseline {baseline!r} among them")
    of: dict[str, list[VariantRun]] = {name: [] for name in names}
    for run in runs:
        if run.variant not in of:
            raise SampleError(
                f"a run of {run.variant!r}, which has no weight: give the weights that these runs were dealt by"
            )
        of[run.variant].append(run)
    observed = {name: by_key(name, of[name], measure) for name in names}
    figures = tuple(_figures(name, of[name], len(observed[name]), measure, (level, seed, resamples)) for name in names)
    split = sample_ratio({name: len(observed[name]) for name in names}, {name: weights[name] for name in names})
    values = {name: tuple(of_key.values()) for name, of_key in observed.items()}
    return VariantReport(
        experiment=experiment,
        baseline=baseline,
        measure=measure_name,
        variants=figures,
        split=split,
        comparisons=ratios_to(baseline, values, level=level),
        tendencies=tuple(
            mann_whitney(values[baseline], values[name], level=level) for name in names if name != baseline
        ),
        warnings=_warnings(figures, split),
    )


def ratios_to(baseline: str, values: Mapping[str, Sequence[float]], *, level: float = 0.95) -> tuple[Comparison, ...]:
    """Each other variant against the baseline: ratio of geometric means over keys, p-values corrected after Holm.

    Args:
        baseline: its name.
        values: of each variant, one number for each key, above zero.
        level: of the intervals.

    Raises:
        SampleError: a value that is not finite and above zero.
    """
    others = [name for name in values if name != baseline]
    results = [ratio_between(values[baseline], values[name], level=level) for name in others]
    adjusted = iter(holm([each.p_value for each in results if each.p_value is not None]))
    return tuple(
        Comparison(
            first=baseline,
            second=name,
            result=result,
            adjusted_p=next(adjusted) if result.p_value is not None else None,
        )
        for name, result in zip(others, results, strict=True)
    )


def by_key(name: str, runs: Iterable[VariantRun], measure: Measure) -> dict[str, float]:
    """The geometric mean over the runs of each key; runs without one are left out.

    Raises:
        SampleError: a measure that is not above zero.
    """
    logs: dict[str, list[float]] = {}
    for run in runs:
        value = measure(run)
        if not (math.isfinite(value) and value > 0):
            raise SampleError(f"run {run.run_id} of {name!r} measures {value!r}: a ratio needs numbers above zero")
        if run.unit is not None:
            logs.setdefault(run.unit, []).append(math.log(value))
    return {unit: math.exp(math.fsum(each) / len(each)) for unit, each in logs.items()}


def _figures(
    name: str, runs: list[VariantRun], units: int, measure: Measure, bootstrap: tuple[float, int, int]
) -> VariantFigures:
    level, seed, resamples = bootstrap
    values = [measure(run) for run in runs if run.unit is not None]
    calls, many = sum(run.search_calls for run in runs), max(len(runs), 1)
    return VariantFigures(
        name=name,
        runs=len(runs),
        units=units,
        unkeyed=sum(run.unit is None for run in runs),
        mean=mean(values, level=level, seed=seed, resamples=resamples),
        median=median(values, level=level, seed=seed, resamples=resamples),
        p95=p95(values, level=level, seed=seed, resamples=resamples),
        served_share=sum(run.served for run in runs) / calls if calls else None,
        hidden_seconds=math.fsum(run.hidden_seconds for run in runs) / many,
        speculations=sum(run.speculations for run in runs) / many,
        wasted=sum(run.wasted for run in runs) / many,
        failed_calls=sum(run.failed_calls for run in runs),
    )


def _warnings(figures: tuple[VariantFigures, ...], split: TestResult) -> tuple[str, ...]:
    found = []
    if split.p_value is not None and split.p_value < ALARM:
        seen = ", ".join(f"{each.name} {each.units}" for each in figures)
        found.append(
            f"the keys did not fall as the weights say ({seen}; p = {split.p_value:.2g}): something loses runs of one "
            "variant, or the weights were changed meanwhile; do not compare before you know what"
        )
    if unkeyed := sum(each.unkeyed for each in figures):
        found.append(f"{unkeyed} runs had no key; they got the default variant and are not compared")
    found += [f"{each.name!r} has no runs with a key" for each in figures if not each.units]
    if any(each.units and each.runs - each.unkeyed > 3 * each.units for each in figures):
        found.append("a key has more than three runs on average: mean, median and p95 are of runs, ratios of keys")
    return tuple(found)
