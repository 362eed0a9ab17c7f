"""Estimates and tests as the cells of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from langgraph_prefetch.evaluation.reporting.values import Table
from langgraph_prefetch.evaluation.statistics.values import Comparison, Estimate, TestResult

NONE = "none"
TEST_HEAD = ("test", "statistic", "p", "effect", "n")
PAIR_HEAD = ("pair", "z", "p, corrected", "effect", "n")


def figure(value: float, unit: str = "") -> str:
    """Four digits that count, and the unit."""
    text = f"{value:.4g}" if 0 < abs(value) < 1_000 else f"{value:,.0f}"
    return f"{text} {unit}".rstrip()


def estimate(found: Estimate, unit: str = "") -> str:
    """The value with its interval; ``none`` where the data allow none."""
    if found.value is None:
        return NONE
    if found.interval is None:
        return figure(found.value, unit)
    return f"{figure(found.value, unit)} ({figure(found.interval.low)} to {figure(found.interval.high)})"


def scaled(found: Estimate, by: float) -> Estimate:
    """The same in another unit, such as milliseconds of seconds."""
    if found.value is None:
        return found
    at = found.interval
    interval = None if at is None else replace(at, low=at.low * by, high=at.high * by)
    return replace(found, value=found.value * by, interval=interval)


def share(part: int, whole: int) -> str:
    """A share as a percentage, with what it is a share of."""
    return f"{part / whole:.1%} ({part} of {whole})" if whole else NONE


def p_value(value: float | None) -> str:
    """As it is read: never 0."""
    if value is None:
        return NONE
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def test_row(name: str, found: TestResult) -> tuple[str, ...]:
    """A test under :data:`TEST_HEAD`."""
    effect = NONE if found.effect is None else f"{found.effect_name} {estimate(found.effect)}"
    statistic = NONE if found.statistic is None else figure(found.statistic)
    return (name, statistic, p_value(found.p_value), effect, " and ".join(map(str, found.n)))


def tests(caption: str, found: Sequence[tuple[str, TestResult]]) -> Table:
    """A table of tests, with what each has to say of itself."""
    notes = [f"{name}: {result.note}" for name, result in found if result.note]
    return Table(
        caption=caption,
        head=TEST_HEAD,
        rows=tuple(test_row(name, result) for name, result in found),
        note="; ".join(notes),
    )


def corrected_pairs(caption: str, found: Sequence[Comparison]) -> Table:
    """A table of all pairs of groups, their p-values corrected together."""
    return Table(
        caption=caption,
        head=PAIR_HEAD,
        rows=tuple(
            (
                f"{each.first}, {each.second}",
                NONE if each.result.statistic is None else figure(each.result.statistic),
                p_value(each.adjusted_p),
                NONE if each.result.effect is None else f"{each.result.effect_name} {estimate(each.result.effect)}",
                " and ".join(map(str, each.result.n)),
            )
            for each in found
        ),
    )
