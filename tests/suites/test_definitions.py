"""What counts as a hit, what is compared with what, and what a search takes of a run: worked by hand."""

import dataclasses
from typing import Any

import pytest

from langgraph_prefetch.evaluation.rows import Answered, RunRow, SearchRow
from langgraph_prefetch.suites import hits
from langgraph_prefetch.suites.ends import end_to_end, sum_of_waits
from langgraph_prefetch.suites.pairing import kinds, median_run, pairs


def search(
    answered: Answered = "ready", *, source: str | None = "reasoning", as_real: bool | None = True, seconds: float = 0.1
) -> SearchRow:
    return SearchRow(query="q", answered=answered, source=source, as_real=as_real, seconds=seconds)


def run(
    arm: str = "wrapped", question: str = "q0", *searches: SearchRow, seconds: float = 1.0, **values: Any
) -> RunRow:
    return RunRow(
        suite="study", arm=arm, question_id=question, question="?", seconds=seconds, searches=searches, **values
    )


@pytest.mark.parametrize(
    ("searches", "hit", "strict", "ready", "thought"),
    [
        ([], False, False, False, False),
        ([search()], True, True, True, True),
        ([search("late", source="sealed")], True, True, False, False),
        ([search(as_real=False)], True, False, True, True),
        ([search(as_real=None)], True, False, True, True),
        ([search(), search("ran", source=None)], False, False, False, False),
        ([search(source="reuse"), search("late")], True, True, False, True),
    ],
)
def test_a_run_is_a_hit_by_one_definition_and_not_by_another(
    searches: list[SearchRow], hit: bool, strict: bool, ready: bool, thought: bool
) -> None:
    """A hit whose passages were not found to be the real query's is none by ours."""
    row = run("wrapped", "q", *searches)
    assert (hits.hit(row), hits.strict_hit(row), hits.ready_hit(row), hits.thought_hit(row)) == (
        hit,
        strict,
        ready,
        thought,
    )


def test_a_hit_rate_is_of_runs_with_a_search() -> None:
    """A question that needs none has no hit to make."""
    rows = [run("wrapped", "a", search()), run("wrapped", "b", search("ran")), run("wrapped", "c")]
    assert hits.rate(rows, hits.hit) == "50.0% (1 of 2)"
    assert hits.rate([run()], hits.hit) == "none"


def test_pairs_are_of_one_question_in_one_state_and_both_have_an_answer() -> None:
    """A run that failed takes its partner out, and no time of it is counted."""
    rows = [
        run("bare", "a", seconds=2.0),
        run("wrapped", "a", seconds=1.0),
        run("bare", "b", seconds=3.0),
        run("wrapped", "b", error="TimeoutError"),
        run("bare", "c", seconds=4.0, warm=True),
        run("wrapped", "c", seconds=3.0),
    ]
    assert pairs(rows, "bare", "wrapped").of() == ([2.0], [1.0])


def test_by_question_every_question_counts_once() -> None:
    """However often it was asked."""
    rows = [
        run(arm, "a", seconds=value + number, repeat=number)
        for arm, value in (("bare", 2.0), ("wrapped", 1.0))
        for number in (0, 1)
    ]
    assert pairs(rows, "bare", "wrapped").by_question() == ([2.5], [1.5])


def test_searches_side_by_side_take_as_long_as_the_longest() -> None:
    """Those of a comparison are in one message; those of several hops come one after another."""
    two = (search(seconds=0.5), search(seconds=0.7))
    assert sum_of_waits(run("bare", "a", *two, kind="comparison")) == pytest.approx(0.7)
    assert sum_of_waits(run("bare", "a", *two, kind="multi-hop")) == pytest.approx(1.2)
    assert sum_of_waits(run("bare", "a")) == 0


def test_end_to_end_is_the_difference_of_the_means() -> None:
    """Worked by hand: (8 + 10) / 2 less (10 + 10) / 2, of 10."""
    rows = [
        run("bare", "a", search("ran", seconds=1.0), seconds=10.0),
        run("wrapped", "a", seconds=8.0),
        run("bare", "b", seconds=10.0),
        run("wrapped", "b", seconds=10.0),
    ]
    whole = end_to_end(rows, seed=0)
    assert (whole.bare.value, whole.difference.value, whole.share, whole.search_share) == (10.0, -1.0, -0.1, 0.05)
    assert end_to_end([], seed=0).share is None


def test_limit_estimate_and_interval_are_told_apart() -> None:
    """An estimate at its limit is enough, and an interval that reaches beyond it is said to."""
    rows = [
        run(arm, str(number), seconds=seconds - (0.3 * number if arm == "wrapped" else 0))
        for number in range(6)
        for arm, seconds in (("bare", 10.0), ("wrapped", 9.5))
    ]
    whole = end_to_end(rows, seed=0)
    assert whole.share == pytest.approx(-0.125)
    assert whole.share_ends is not None
    assert whole.share_ends[0] < -0.14 < -0.11 < whole.share_ends[1]
    assert whole.against(None).endswith(f"{whole.share_cell}, with its 95 % interval; {whole.p_said}.")
    assert "limit is -12.0%, for the estimate. The interval reaches beyond it" in whole.against(-0.12)
    assert whole.against(-0.05).endswith("limit is -5.0%, for the estimate.")
    assert whole.against(-0.2).endswith("limit is -20.0%, for the estimate.")
    assert end_to_end([], seed=0).share_ends is None


def test_the_run_in_the_middle_and_the_types_in_order() -> None:
    """Of no runs there is none."""
    rows = [
        run("wrapped", str(number), seconds=float(number), kind=kind) for number, kind in ((3, "b"), (1, "a"), (2, ""))
    ]
    middle = median_run(rows)
    assert middle is not None
    assert middle.seconds == 2.0
    assert median_run([]) is None
    assert kinds(rows) == ("b", "a")
    assert kinds([dataclasses.replace(rows[2])]) == ()
