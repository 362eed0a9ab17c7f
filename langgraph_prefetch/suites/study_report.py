"""What the rows of the study say, beside what was published. Pure but for reading the events of one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from langgraph_prefetch.evaluation.reporting.values import Figure, SuiteReport, Summary
from langgraph_prefetch.evaluation.rows import RunRow
from langgraph_prefetch.evaluation.statistics.describe import mean
from langgraph_prefetch.evaluation.trials import EventLog, Outcome
from langgraph_prefetch.suites.agents import WRAPPED, Bench
from langgraph_prefetch.suites.became import answers_section
from langgraph_prefetch.suites.by_kind import kinds_section
from langgraph_prefetch.suites.cells import NONE, estimate, share
from langgraph_prefetch.suites.comparing import arms_section, batches_section, endpoint_section
from langgraph_prefetch.suites.contract import SuiteContext
from langgraph_prefetch.suites.ends import EndToEnd, end_to_end
from langgraph_prefetch.suites.hits import hit, lookups, rate, searched, strict_hit
from langgraph_prefetch.suites.pairing import answered, searches
from langgraph_prefetch.suites.study_answers import study_answers
from langgraph_prefetch.suites.study_tables import (
    cold_miss_section,
    groups_section,
    milliseconds,
    published_section,
    searches_section,
    series_section,
    sets_section,
)
from langgraph_prefetch.suites.suite_file import stated
from langgraph_prefetch.suites.versions import settings_shown, title_shown
from langgraph_prefetch.suites.waiting import as_real, same_answers, timeline_section

SERIES = "series"
"""The arm of the batches: the wrapped agent, results kept."""


def report(
    context: SuiteContext, bench: Bench, sets: Mapping[str, Sequence[str]], outcome: Outcome, events: EventLog
) -> SuiteReport:
    """The whole report."""
    rows = outcome.rows
    series = [row for row in rows if row.arm == SERIES]
    compared = [row for row in rows if row.arm != SERIES]
    whole = end_to_end(compared, seed=context.seed)
    failures = _failures(context, series, whole)
    sections = [
        endpoint_section(
            whole.against(context.settings.get("limits", {}).get("end_to_end_share")),
            failures,
            judged=not context.smoke and bool(context.settings.get("limits")),
        ),
        answers_section(study_answers(series, compared, whole, arm=SERIES), smoke=context.smoke),
        published_section(series, compared, whole),
        series_section(series),
        batches_section(series, arms=(SERIES,), warm=None),
        arms_section("Every question of both sets, cold", compared, warm=False, seed=context.seed),
        sets_section(compared, sets, context.seed),
        searches_section(compared, context.seed),
        cold_miss_section(series, compared),
        kinds_section(compared),
        groups_section(compared),
        *timeline_section(compared, events),
    ]
    return SuiteReport(
        suite="study",
        title=title_shown(context),
        hypotheses=stated(context.settings),
        settings=settings_shown(context, bench.described),
        sections=tuple(sections),
        summary=_summary(series, compared, whole),
        limitations=(*_limitations(context), *outcome.remarks),
        failures=(*failures, *(outcome.remarks if outcome.given_up else ())),
    )


def _summary(series: Sequence[RunRow], compared: Sequence[RunRow], whole: EndToEnd) -> Summary:
    wrapped = answered(compared, arm=WRAPPED)
    made = searches(wrapped)
    starts = sum(row.speculations for row in wrapped) + sum(each.answered == "ran" for each in made)
    return Summary(
        speed=(
            Figure(name="end to end, wrapped less bare", value=estimate(whole.difference, "s"), note=whole.share_cell),
            Figure(name="p, paired permutation", value=whole.p_cell),
            Figure(name="hit rate, warm, study's definition", value=rate(answered(series, warm=True), hit)),
            Figure(name="hit rate, warm, stricter", value=rate(answered(series, warm=True), strict_hit)),
            Figure(name="cache access, mean", value=milliseconds(lookups([*series, *compared]))),
        ),
        quality=(
            Figure(name="same answer, bare and wrapped", value=same_answers(compared)),
            Figure(name="served passages as searched again", value=as_real([*answered(series), *wrapped])),
        ),
        cost=(
            Figure(name="searches started / needed, cold", value=f"{starts / len(made):.3g}" if made else NONE),
            Figure(
                name="wasted searches, cold",
                value=share(sum(row.wasted for row in wrapped), sum(row.speculations for row in wrapped)),
            ),
        ),
    )


def _failures(context: SuiteContext, series: Sequence[RunRow], whole: EndToEnd) -> list[str]:
    limits = {} if context.smoke else context.settings.get("limits", {})
    failures = []
    warm = searched(answered(series, warm=True))
    if "warm_hit_rate" in limits and warm and sum(map(hit, warm)) / len(warm) < limits["warm_hit_rate"]:
        failures.append(f"warm hit rate {rate(warm, hit)}, and {limits['warm_hit_rate']:.0%} was to be reached")
    found = mean(lookups(series)).value
    if "cache_access_seconds" in limits and (found is None or found > limits["cache_access_seconds"]):
        failures.append(
            f"cache access takes {found} s on average, and at most {limits['cache_access_seconds']} s was set"
        )
    if "end_to_end_share" in limits and (whole.share is None or whole.share > limits["end_to_end_share"]):
        failures.append(f"end to end {whole.share_cell}, and {limits['end_to_end_share']:.1%} was to be reached")
    if "p" in limits and (whole.p is None or whole.p >= limits["p"]):
        failures.append(f"{whole.p_said}, and below {limits['p']} was to be reached")
    return failures


def _limitations(context: SuiteContext) -> list[str]:
    said = [
        "Services are local: a cache in the agent's process, a database on the same machine, and a stated latency.",
        "A question asked again is no new question: the batches say how a cache behaves, not how questions differ.",
    ]
    if context.model is None and context.make_agent is None:
        said.append(
            "The model is scripted: its thoughts were written for this suite, and name their queries more often than a "
            "model's own may. How readily one's own agent names them is told by 'langgraph-prefetch advise'."
        )
    if context.smoke:
        said.append("This was a smoke run: its figures mean nothing.")
    return said
