"""Sections that compare the times of arms. Pure: rows in, tables and plots out."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph_prefetch.evaluation.reporting.values import (
    Block,
    Distributions,
    PairedDifferences,
    Section,
    Table,
    Text,
)
from langgraph_prefetch.evaluation.rows import RunRow
from langgraph_prefetch.evaluation.statistics.describe import mean, median, p95
from langgraph_prefetch.evaluation.statistics.groups import kruskal_wallis
from langgraph_prefetch.evaluation.statistics.paired import paired_permutation
from langgraph_prefetch.evaluation.statistics.ratios import geometric_mean_ratio
from langgraph_prefetch.evaluation.statistics.shifts import hodges_lehmann, paired_shift
from langgraph_prefetch.evaluation.statistics.two_samples import mann_whitney
from langgraph_prefetch.suites.agents import BARE, DIRECT, REASONING, WRAPPED
from langgraph_prefetch.suites.cells import estimate, tests
from langgraph_prefetch.suites.pairing import Pairs, answered, pairs

COMPARED = ((BARE, WRAPPED), (DIRECT, WRAPPED), (BARE, DIRECT))
"""Pairs of arms. The last is what being wrapped costs where nothing is started early."""

ORDER = (BARE, WRAPPED, DIRECT, REASONING)


def arms_section(title: str, rows: Sequence[RunRow], *, warm: bool | None, seed: int) -> Section:
    """Times of the arms, and each pair of them compared."""
    found_arms = {row.arm for row in rows}
    arms = [arm for arm in ORDER if arm in found_arms]
    times = {arm: [row.seconds for row in answered(rows, arm=arm, warm=warm)] for arm in arms}
    compared = [
        (one, other, pairs(rows, one, other, warm=warm)) for one, other in COMPARED if one in times and other in times
    ]
    main = next((each for one, other, each in compared if (one, other) == (BARE, WRAPPED)), Pairs((), ()))
    first, second = main.of()
    blocks: list[Block] = [
        arm_table(times, seed),
        Distributions(caption="Seconds a run", unit="s", series={arm: tuple(kept) for arm, kept in times.items()}),
        PairedDifferences(
            caption="Wrapped less bare, question by question",
            unit="s",
            first=BARE,
            second=WRAPPED,
            differences=tuple(other - one for one, other in zip(first, second, strict=True)),
        ),
        ratio_table(compared, seed),
        tests(
            "Whether they differ",
            [
                *((f"{one}, {other}: Mann-Whitney U", mann_whitney(*found.of())) for one, other, found in compared),
                *(
                    (f"{one}, {other}: paired permutation", paired_permutation(*found.of(), seed=seed))
                    for one, other, found in compared
                ),
            ],
        ),
    ]
    return Section(title=title, blocks=tuple(blocks))


def endpoint_section(found: str, failures: Sequence[str], *, judged: bool) -> Section:
    """What became of the primary endpoint and of the other limits that the suite's file sets."""
    if not judged:
        said: tuple[str, ...] = (
            "The suite's file sets no limit, or the run is a smoke run: the figures are for the reader to judge.",
        )
    elif failures:
        said = tuple(f"Not held: {each}." for each in failures)
    else:
        said = ("Held, as are all other limits that the suite's file sets.",)
    return Section(title="Primary endpoint", blocks=(Text(paragraphs=(found, *said)),))


def arm_table(times: dict[str, list[float]], seed: int) -> Table:
    """Mean, median and 95th percentile of each arm, with bootstrap intervals."""
    return Table(
        caption="Seconds from the question to the last token (95 % bootstrap intervals)",
        head=("arm", "runs", "mean", "median", "95th percentile"),
        rows=tuple(
            (
                arm,
                str(len(kept)),
                estimate(mean(kept, seed=seed)),
                estimate(median(kept, seed=seed)),
                estimate(p95(kept, seed=seed)),
            )
            for arm, kept in times.items()
        ),
    )


def ratio_table(compared: Sequence[tuple[str, str, Pairs]], seed: int) -> Table:
    """By how much the second of each pair of arms differs from the first."""
    return Table(
        caption="How long the second takes, against the first",
        head=("pair", "pairs", "ratio, paired", "ratio, by question", "shift, paired", "Hodges-Lehmann shift"),
        rows=tuple(
            (
                f"{one}, {other}",
                str(len(found.first)),
                estimate(geometric_mean_ratio(*found.of())),
                estimate(geometric_mean_ratio(*found.by_question())),
                estimate(paired_shift(*found.of()), "s"),
                estimate(hodges_lehmann(*found.of()), "s"),
            )
            for one, other, found in compared
        ),
        note="A ratio is the geometric mean over pairs; by question, all pairs of a question count once, since asking "
        "one question again is no new question. A shift below 0 says that the second needs less.",
    )


def batches_section(rows: Sequence[RunRow], *, arms: Sequence[str], warm: bool | None = False) -> Section:
    """Whether one batch says what the others say."""
    numbers = sorted({row.batch for row in rows})
    of = {arm: seconds_by_batch(rows, arm, warm=warm) for arm in arms}
    table = Table(
        caption="Mean seconds a run, batch by batch",
        head=("arm", *(f"batch {number + 1}" for number in numbers)),
        rows=tuple(
            (arm, *(estimate(mean(batches.get(f"batch {number + 1}", []))) for number in numbers))
            for arm, batches in of.items()
        ),
    )
    found = tests(
        "Whether the batches differ (Kruskal-Wallis)", [(arm, kruskal_wallis(batches)) for arm, batches in of.items()]
    )
    return Section(title="Batches", blocks=(table, found))


def seconds_by_batch(rows: Sequence[RunRow], arm: str, *, warm: bool | None) -> dict[str, list[float]]:
    """Seconds of an arm's runs, batch by batch; batches without such runs are left out."""
    kept = answered(rows, arm=arm, warm=warm)
    return {
        f"batch {number + 1}": [row.seconds for row in kept if row.batch == number]
        for number in sorted({row.batch for row in kept})
    }
