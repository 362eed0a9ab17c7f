"""How searches were answered, how long they were waited for, and one run drawn. Pure but for reading its events."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph_prefetch.evaluation.reporting.values import RunTimeline, Section, Table
from langgraph_prefetch.evaluation.rows import RunRow
from langgraph_prefetch.evaluation.statistics.describe import mean, median, p95
from langgraph_prefetch.evaluation.statistics.two_samples import mann_whitney
from langgraph_prefetch.evaluation.trials import EventLog, key_of
from langgraph_prefetch.suites.agents import BARE, DIRECT, WRAPPED
from langgraph_prefetch.suites.cells import NONE, estimate, share, tests
from langgraph_prefetch.suites.pairing import answered, median_run, pairs, searches


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


def timeline_section(rows: Sequence[RunRow], events: EventLog) -> list[Section]:
    """The wrapped run in the middle, drawn."""
    middle = median_run([row for row in answered(rows, arm=WRAPPED, warm=False) if row.searches])
    found = () if middle is None else events.events_of(key_of(middle))
    if middle is None or not found:
        return []
    caption = f"The median wrapped run with a search: {middle.question_id}, {middle.seconds:.2f} s"
    return [Section(title="One run", blocks=(RunTimeline(caption=caption, events=found),))]
