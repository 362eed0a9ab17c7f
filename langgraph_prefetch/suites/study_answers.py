"""What the rows of ``study`` say of its hypotheses. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph_prefetch.evaluation.rows import RunRow
from langgraph_prefetch.evaluation.statistics.describe import mean
from langgraph_prefetch.evaluation.statistics.groups import kruskal_wallis
from langgraph_prefetch.evaluation.statistics.shifts import hodges_lehmann
from langgraph_prefetch.evaluation.statistics.two_samples import mann_whitney
from langgraph_prefetch.suites.agents import BARE, REASONING, WRAPPED
from langgraph_prefetch.suites.became import ALPHA, Answer, held, no_difference, p_said, said
from langgraph_prefetch.suites.by_kind import saved_by_kind
from langgraph_prefetch.suites.cells import estimate
from langgraph_prefetch.suites.comparing import seconds_by_batch
from langgraph_prefetch.suites.ends import EndToEnd
from langgraph_prefetch.suites.hits import hit, lookups, rate, searched, strict_hit
from langgraph_prefetch.suites.pairing import answered, pairs, searches
from langgraph_prefetch.suites.waiting import waits

NO_SEARCH = "no search"


def study_answers(
    series: Sequence[RunRow], compared: Sequence[RunRow], whole: EndToEnd, *, arm: str
) -> tuple[Answer, ...]:
    """One for each hypothesis of the suite's file, in its order. ``arm``: that of the batches."""
    return (
        _sooner(whole),
        _warm_hits(series),
        _access([*series, *compared]),
        _hit_and_direct(compared),
        _miss_and_direct(compared),
        no_difference("Warm batches do not differ", [(arm, kruskal_wallis(seconds_by_batch(series, arm, warm=True)))]),
        _types(compared),
        _without_search(compared),
    )


def _sooner(whole: EndToEnd) -> Answer:
    change = whole.difference.value
    is_so = None if whole.p is None or change is None else whole.p < ALPHA and change < 0
    return held(
        "Wrapped runs are shorter than bare ones",
        is_so,
        f"mean difference {estimate(whole.difference, 's')}, {whole.p_said}",
        otherwise="not shown",
    )


def _warm_hits(series: Sequence[RunRow]) -> Answer:
    warm = searched(answered(series, warm=True))
    return held(
        "Warm hit rate 100 %, by both definitions",
        all(map(strict_hit, warm)) if warm else None,
        f"the study's: {rate(warm, hit)}; stricter: {rate(warm, strict_hit)}",
    )


def _access(rows: Sequence[RunRow]) -> Answer:
    taken = mean([1_000 * each for each in lookups(rows)])
    return held(
        "Getting at a ready result takes at most 1 ms on average",
        None if taken.value is None else taken.value <= 1,
        said(taken, "ms"),
    )


def _hit_and_direct(compared: Sequence[RunRow]) -> Answer:
    waited = waits(compared, warm=False)
    direct, hits = waited["direct"], waited["hit"]
    test, shift = mann_whitney(direct, hits), hodges_lehmann(direct, hits)
    is_so = None if test.p_value is None or shift.value is None else test.p_value < ALPHA and shift.value < 0
    return held(
        "A hit waits less than a direct search",
        is_so,
        f"shift {said(shift, 's')}, {p_said(test.p_value)}, {len(hits)} and {len(direct)} calls",
        otherwise="not shown",
    )


def _miss_and_direct(compared: Sequence[RunRow]) -> Answer:
    direct = waits(compared, warm=False)["direct"]
    missed = [each.seconds for each in searches(answered(compared, arm=REASONING)) if each.answered == "ran"]
    claim = "A miss waits no longer than a direct search"
    if not missed or not direct:
        return held(claim, None, f"{len(missed)} misses and {len(direct)} direct searches")
    shift = hodges_lehmann(direct, missed)
    is_so = None if shift.interval is None else shift.interval.high <= 0
    longer = shift.interval is not None and shift.interval.low > 0
    return held(
        claim,
        is_so,
        f"shift {said(shift, 's')}, {len(missed)} and {len(direct)} calls: longer by the upper end is not ruled out",
        otherwise="not held" if longer else "not shown",
    )


def _types(compared: Sequence[RunRow]) -> Answer:
    test = kruskal_wallis(saved_by_kind(pairs(compared, BARE, WRAPPED, warm=False)))
    return held(
        "Savings differ between types of questions",
        None if test.p_value is None else test.p_value < ALPHA,
        f"Kruskal-Wallis, {p_said(test.p_value)}",
        otherwise="not shown",
    )


def _without_search(compared: Sequence[RunRow]) -> Answer:
    saved = mean(saved_by_kind(pairs(compared, BARE, WRAPPED, warm=False)).get(NO_SEARCH, ()))
    claim = "Questions without a search save nothing"
    if saved.value is None or saved.interval is None:
        return held(claim, None, f"saved {said(saved, 's')}")
    inside = saved.interval.low <= 0 <= saved.interval.high
    found = f"saved {estimate(saved, 's')}, {saved.n} pairs"
    return held(claim, False, found, otherwise="no difference found" if inside else "not held")
