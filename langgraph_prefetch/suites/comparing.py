"""Sections that compare the times of arms. Pure: rows in, tables and plots out."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph_prefetch.evaluation.reporting.values import (
    Block,
    Distributions,
    PairedDifferences,
    RunTimeline,
    Section,
    Table,
    Text,
)
from langgraph_prefetch.evaluation.rows import RunRow
from langgraph_prefetch.evaluation.statistics.describe import mean, median, p95
from langgraph_prefetch.evaluation.statistics.groups import dunn, kruskal_wallis
from langgraph_prefetch.evaluation.statistics.paired import paired_permutation
from langgraph_prefetch.evaluation.statistics.ratios import geometric_mean_ratio
from langgraph_prefetch.evaluation.statistics.shifts import hodges_lehmann, paired_shift
from langgraph_prefetch.evaluation.statistics.two_samples import mann_whitney
from langgraph_prefetch.evaluation.trials import EventLog, key_of
from langgraph_prefetch.suites.agents import BARE, DIRECT, WRAPPED
from langgraph_prefetch.suites.cells import NONE, corrected_pairs, estimate, share, tests
from langgraph_prefetch.suites.pairing import Pairs, answered, kinds, median_run, pairs, searches, seconds

COMPARED = ((BARE, WRAPPED), (DIRECT, WRAPPED), (BARE, DIRECT))
"""Pairs of arms. The last is what being wrapped costs where nothing is started early."""


def arms_section(title: str, rows: Sequence[RunRow], *, warm: bool | None, seed: int) -> Section:
    """Times of the arms, and each pair of them compared."""
    arms = list(dict.fromkeys(row.arm for row in rows))
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


def kinds_section(rows: Sequence[RunRow], *, warm: bool | None = False) -> Section:
    """Times, savings and searches by the questions' labelled types."""
    found = pairs(rows, BARE, WRAPPED, warm=warm)
    names = kinds(rows)
    saved: dict[str, list[float]] = {name: [] for name in names}
    ratios: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in names}
    for one, other in zip(found.first, found.second, strict=True):
        if one.kind in saved:
            saved[one.kind].append(one.seconds - other.seconds)
            ratios[one.kind][0].append(one.seconds)
            ratios[one.kind][1].append(other.seconds)
    wrapped = answered(rows, arm=WRAPPED, warm=warm)
    table = Table(
        caption="By type of question, bare and wrapped",
        head=("type", "pairs", "bare, mean s", "wrapped, mean s", "saved, mean s", "ratio", "served of its searches"),
        rows=tuple(
            (
                name,
                str(len(saved[name])),
                estimate(mean(ratios[name][0])),
                estimate(mean(ratios[name][1])),
                estimate(mean(saved[name])),
                estimate(geometric_mean_ratio(*ratios[name])),
                served([row for row in wrapped if row.kind == name]),
            )
            for name in names
        ),
    )
    if not names:
        return Section(title="By type of question", blocks=(Text(paragraphs=("The questions have no types.",)),))
    blocks: list[Block] = [
        table,
        tests(
            "Whether the types differ",
            [
                ("wrapped seconds", kruskal_wallis(_seconds_by_kind(wrapped, names))),
                ("seconds saved", kruskal_wallis(saved)),
            ],
        ),
        corrected_pairs("Seconds saved, each pair of types (Dunn's test, Holm's correction)", dunn(saved)),
        corrected_pairs(
            "Wrapped seconds, each pair of types (Dunn's test, Holm's correction)",
            dunn(_seconds_by_kind(wrapped, names)),
        ),
    ]
    return Section(title="By type of question", blocks=tuple(blocks))


def batches_section(rows: Sequence[RunRow], *, arms: Sequence[str], warm: bool | None = False) -> Section:
    """Whether one batch says what the others say."""
    numbers = sorted({row.batch for row in rows})
    of = {
        arm: {
            f"batch {number + 1}": [row.seconds for row in answered(rows, arm=arm, warm=warm) if row.batch == number]
            for number in numbers
        }
        for arm in arms
    }
    table = Table(
        caption="Mean seconds a run, batch by batch",
        head=("arm", *(f"batch {number + 1}" for number in numbers)),
        rows=tuple((arm, *(estimate(mean(kept)) for kept in batches.values())) for arm, batches in of.items()),
    )
    found = tests(
        "Whether the batches differ (Kruskal-Wallis)", [(arm, kruskal_wallis(batches)) for arm, batches in of.items()]
    )
    return Section(title="Batches", blocks=(table, found))


def searches_section(rows: Sequence[RunRow], *, warm: bool | None, seed: int) -> Section:
    """How long the agent waited for a search: a hit and a miss of the wrapped arm, and a search made directly."""
    waited = waits(rows, warm=warm)
    table = Table(
        caption="Seconds that the agent waited for a search",
        head=("search", "calls", "mean", "median", "95th percentile"),
        rows=tuple(
            (
                name,
                str(len(kept)),
                estimate(mean(kept, seed=seed)),
                estimate(median(kept, seed=seed)),
                estimate(p95(kept, seed=seed)),
            )
            for name, kept in waited.items()
        ),
        note="A hit was answered by a search that was started early: it was ready, or (late) still running. A miss ran "
        "the tool. A direct search goes the same way with speculation switched off.",
    )
    found = [
        (f"{one}, {other}", mann_whitney(waited[one], waited[other]))
        for one, other in (("miss", "hit"), ("direct", "hit"), ("direct", "miss"))
    ]
    return Section(title="Search calls", blocks=(table, tests("Hit, miss and direct search", found)))


def waits(rows: Sequence[RunRow], *, warm: bool | None) -> dict[str, list[float]]:
    """Seconds of searches: those of the wrapped arm by how they were answered, and those of the other arms."""
    wrapped = searches(answered(rows, arm=WRAPPED, warm=warm))
    return {
        "hit": [each.seconds for each in wrapped if each.answered != "ran"],
        "hit, ready": [each.seconds for each in wrapped if each.answered == "ready"],
        "hit, late": [each.seconds for each in wrapped if each.answered == "late"],
        "miss": [each.seconds for each in wrapped if each.answered == "ran"],
        "direct": [each.seconds for each in searches(answered(rows, arm=DIRECT, warm=warm))],
        "bare": [each.seconds for each in searches(answered(rows, arm=BARE, warm=warm))],
    }


def timeline_section(rows: Sequence[RunRow], events: EventLog) -> list[Section]:
    """The wrapped run in the middle, drawn."""
    middle = median_run([row for row in answered(rows, arm=WRAPPED, warm=False) if row.searches])
    found = () if middle is None else events.events_of(key_of(middle))
    if middle is None or not found:
        return []
    caption = f"The median wrapped run with a search: {middle.question_id}, {middle.seconds:.2f} s"
    return [Section(title="One run", blocks=(RunTimeline(caption=caption, events=found),))]


def served(rows: Sequence[RunRow]) -> str:
    """How many of the searches were answered early."""
    made = searches(rows)
    return share(sum(each.answered != "ran" for each in made), len(made))


def as_real(rows: Sequence[RunRow]) -> str:
    """How many served searches gave the passages of the real query, of those that were searched again."""
    known = [each.as_real for each in searches(rows) if each.answered != "ran" and each.as_real is not None]
    return share(sum(known), len(known)) if known else NONE


def same_answers(rows: Sequence[RunRow], *, warm: bool | None = None) -> str:
    """In how many pairs both arms said the same."""
    found = pairs(rows, BARE, WRAPPED, warm=warm)
    same = sum(one.answer == other.answer for one, other in zip(found.first, found.second, strict=True))
    return share(same, len(found.first))


def _seconds_by_kind(rows: Sequence[RunRow], names: Sequence[str]) -> dict[str, list[float]]:
    return {name: [seconds(row) for row in rows if row.kind == name] for name in names}
