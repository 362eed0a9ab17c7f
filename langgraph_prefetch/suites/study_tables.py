"""The sections of the study's report. Pure: rows in, tables out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from langgraph_prefetch.evaluation.reporting.values import Section, Table, Text
from langgraph_prefetch.evaluation.rows import RunRow
from langgraph_prefetch.evaluation.statistics.describe import mean, median, p95
from langgraph_prefetch.evaluation.statistics.paired import paired_permutation
from langgraph_prefetch.evaluation.statistics.ratios import geometric_mean_ratio
from langgraph_prefetch.evaluation.statistics.two_samples import cliffs_delta, mann_whitney
from langgraph_prefetch.evaluation.statistics.values import Estimate
from langgraph_prefetch.suites import published
from langgraph_prefetch.suites.agents import REASONING, WRAPPED
from langgraph_prefetch.suites.cells import NONE, estimate, scaled, tests
from langgraph_prefetch.suites.ends import EndToEnd, end_to_end
from langgraph_prefetch.suites.hits import hit, lookups, rate, ready_hit, searched, strict_hit, thought_hit
from langgraph_prefetch.suites.pairing import answered, searches
from langgraph_prefetch.suites.waiting import same_answers, waits

NOT_PUBLISHED = "not published"
DEFINITIONS = (
    ("by the study's definition", hit),
    ("stricter: with the passages of the real query", strict_hit),
    ("ready when asked for", ready_hit),
    ("from the reasoning, or kept from before", thought_hit),
)


def published_section(series: Sequence[RunRow], compared: Sequence[RunRow], whole: EndToEnd) -> Section:
    """The published figures and ours, side by side."""
    cold, warm = answered(series, warm=False), answered(series, warm=True)
    alone, waited = answered(compared, arm=REASONING), waits(compared, warm=False)
    misses = [each.seconds for each in searches(alone) if each.answered == "ran"]
    rows = (
        (
            "hit rate, all runs of the batches",
            "99.2 % (119 of 120)",
            rate([*cold, *warm], hit),
            rate([*cold, *warm], strict_hit),
        ),
        ("hit rate, cold", "one miss", rate(cold, hit), rate(cold, strict_hit)),
        ("hit rate, cold, from reasoning alone", NOT_PUBLISHED, rate(alone, hit), rate(alone, strict_hit)),
        ("hit rate, warm", "100 %", rate(warm, hit), rate(warm, strict_hit)),
        ("cache access, mean", "3.49 ms", milliseconds(lookups([*series, *compared])), ""),
        ("a hit less a miss, seconds waited", "-2,910 ms", _difference(misses, waited["hit"]), ""),
        ("a hit less a direct search, seconds waited", NOT_PUBLISHED, _difference(waited["direct"], waited["hit"]), ""),
        ("a miss less a direct search, seconds waited", NOT_PUBLISHED, _difference(waited["direct"], misses), ""),
        ("end to end, wrapped less bare, mean", "-669 ms", _in_ms(scaled(whole.difference, 1_000)), ""),
        ("the same, of the bare run", "-10.7 %", whole.share_cell, ""),
        ("bare run, mean", "about 6.25 s, implied", estimate(whole.bare, "s"), ""),
        ("search, of the bare run", "about a tenth, implied", whole.search_share_cell, ""),
        ("answers as good", "not degraded", f"the same answer: {same_answers(compared)}", ""),
    )
    table = Table(
        caption="The study's figures and ours",
        head=("measure", "published", "here", "here, stricter"),
        rows=rows,
        note="Stricter: a hit counts only when its passages are those of the real query. Intervals are of 95 %.",
    )
    return Section(title="Beside the published figures", blocks=(table, Text(paragraphs=published.WHY)))


def series_section(series: Sequence[RunRow]) -> Section:
    """The batches: hit rates by every definition, and what a look at the cache takes."""
    numbers = sorted({row.batch for row in series})
    batches = {f"batch {number + 1}": [row for row in answered(series) if row.batch == number] for number in numbers}
    kept = {
        **batches,
        "cold (the first)": answered(series, warm=False),
        "warm (the others)": answered(series, warm=True),
        "all": answered(series),
    }
    hits = Table(
        caption="Runs that are hits, of the runs with a search",
        head=("runs", *(name for name, _ in DEFINITIONS)),
        rows=tuple((name, *(rate(rows, counts) for _, counts in DEFINITIONS)) for name, rows in kept.items()),
    )
    access = Table(
        caption="Milliseconds to get at a ready result",
        head=("runs", "results", "mean", "median", "95th percentile"),
        rows=tuple(
            (name, str(len(found)), *(_in_ms(each) for each in (mean(found), median(found), p95(found))))
            for name, found in ((name, [1_000 * each for each in lookups(rows)]) for name, rows in kept.items())
        ),
    )
    return Section(title="The batches: one set, asked again and again", blocks=(hits, access))


def sets_section(compared: Sequence[RunRow], sets: Mapping[str, Sequence[str]], seed: int) -> Section:
    """Bare against wrapped on each set by itself."""
    rows, found = [], []
    for name, ids in sets.items():
        kept = [row for row in compared if row.question_id in ids]
        whole = end_to_end(kept, seed=seed)
        rows.append(
            (
                f"set {name}",
                str(len(whole.pairs.first)),
                estimate(whole.bare),
                estimate(whole.wrapped),
                estimate(whole.difference),
                whole.share_cell,
                estimate(geometric_mean_ratio(*whole.pairs.of())),
            )
        )
        found += [
            (f"set {name}: Mann-Whitney U", mann_whitney(*whole.pairs.of())),
            (f"set {name}: paired permutation", paired_permutation(*whole.pairs.of(), seed=seed)),
        ]
    table = Table(
        caption="Bare and wrapped, set by set, seconds",
        head=("set", "pairs", "bare, mean", "wrapped, mean", "difference", "of the bare run", "ratio, paired"),
        rows=tuple(rows),
    )
    return Section(title="The two sets", blocks=(table, tests("Whether wrapped runs differ from bare ones", found)))


def searches_section(compared: Sequence[RunRow], seed: int) -> Section:
    """How long a search is waited for: hits, misses of the arm that has some, direct searches."""
    waited = waits(compared, warm=False)
    alone = searches(answered(compared, arm=REASONING))
    kept = {
        "hit": waited["hit"],
        "hit, ready": waited["hit, ready"],
        "hit, late": waited["hit, late"],
        "hit, from reasoning alone": [each.seconds for each in alone if each.answered != "ran"],
        "miss, wrapped": waited["miss"],
        "miss, from reasoning alone": [each.seconds for each in alone if each.answered == "ran"],
        "direct": waited["direct"],
        "bare": waited["bare"],
    }
    table = Table(
        caption="Seconds that the agent waited for a search",
        head=("search", "calls", "mean", "median", "95th percentile"),
        rows=tuple(
            (name, str(len(found)), *(estimate(each(found, seed=seed)) for each in (mean, median, p95)))
            for name, found in kept.items()
        ),
        note="Direct: wrapped, with speculation switched off. From reasoning alone: no search starts from a call as it "
        "is being written, so that a thought that does not name its query makes a miss.",
    )
    missed = kept["miss, from reasoning alone"]
    found = [
        ("miss, hit", mann_whitney(missed, kept["hit"])),
        ("direct, hit", mann_whitney(kept["direct"], kept["hit"])),
        ("direct, miss", mann_whitney(kept["direct"], missed)),
    ]
    return Section(title="Hit, miss and direct search", blocks=(table, tests("Whether they differ", found)))


def cold_miss_section(series: Sequence[RunRow], compared: Sequence[RunRow]) -> Section:
    """What a cold miss costs a run, and on how many runs that rests."""
    rows = []
    for name, kept in (
        ("batches, cold", answered(series, warm=False)),
        ("wrapped, cold", answered(compared, arm=WRAPPED)),
        ("from reasoning alone, cold", answered(compared, arm=REASONING)),
    ):
        hits = [row.seconds for row in searched(kept) if hit(row)]
        misses = [row.seconds for row in searched(kept) if not hit(row)]
        rows.append(
            (
                name,
                str(len(hits)),
                str(len(misses)),
                estimate(mean(hits), "s"),
                estimate(mean(misses), "s"),
                estimate(cliffs_delta(misses, hits)),
            )
        )
    table = Table(
        caption="Seconds of whole runs, hit and miss by the study's definition",
        head=("runs", "hits", "misses", "hits, mean", "misses, mean", "Cliff's delta"),
        rows=tuple(rows),
    )
    said = (
        "In the study the cold miss rests on one run of 120: no interval can be given for one run, and none should be "
        "believed. Whole runs of different questions also differ by how much is thought and said in them; the seconds "
        "waited for a search, above, do not."
    )
    return Section(title="The effect size of the cold miss", blocks=(table, Text(paragraphs=(said,))))


def groups_section(compared: Sequence[RunRow]) -> Section:
    """Hit rates and savings by the language of the question, and by its type."""
    return Section(
        title="By language and by type: hits and savings",
        blocks=(
            _groups("language", compared, lambda row: row.language),
            _groups("type", compared, lambda row: row.kind),
        ),
    )


def _groups(name: str, compared: Sequence[RunRow], of: Callable[[RunRow], str]) -> Table:
    rows = []
    for group in dict.fromkeys(of(row) for row in compared if of(row)):
        kept = [row for row in compared if of(row) == group]
        whole = end_to_end(kept, seed=0)
        rows.append(
            (
                group,
                str(len(whole.pairs.first)),
                rate(answered(kept, arm=WRAPPED), hit),
                rate(answered(kept, arm=REASONING), hit),
                estimate(whole.difference),
                whole.share_cell,
            )
        )
    return Table(
        caption=f"By {name}, cold",
        head=(name, "pairs", "hits, wrapped", "hits, reasoning alone", "wrapped less bare, s", "of the bare run"),
        rows=tuple(rows),
        note="Hits by the study's definition, of runs with a search.",
    )


def _difference(first: Sequence[float], second: Sequence[float]) -> str:
    if not first or not second:
        return NONE
    value = sum(second) / len(second) - sum(first) / len(first)
    return f"{1_000 * value:,.0f} ms ({len(second)} and {len(first)} calls)"


def milliseconds(seconds: Sequence[float]) -> str:
    """The mean of some seconds, in milliseconds, with its interval."""
    return _in_ms(mean([1_000 * each for each in seconds]))


def _in_ms(found: Estimate) -> str:
    return estimate(found, "ms")
