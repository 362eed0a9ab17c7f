"""What became of the hypotheses, on rows made for the purpose: held, not held, not shown, and not to be told."""

import dataclasses
from decimal import Decimal
from typing import Any

import pytest

from langgraph_prefetch.evaluation.costs.bill import Bill, Line
from langgraph_prefetch.evaluation.costs.compare import difference
from langgraph_prefetch.evaluation.costs.usage import Counted
from langgraph_prefetch.evaluation.rows import RunRow, SearchRow
from langgraph_prefetch.evaluation.statistics.describe import mean
from langgraph_prefetch.evaluation.statistics.groups import kruskal_wallis
from langgraph_prefetch.suites.became import Answer, answers_section, no_difference
from langgraph_prefetch.suites.cells import scaled
from langgraph_prefetch.suites.cost_answers import cost_answers
from langgraph_prefetch.suites.ends import end_to_end
from langgraph_prefetch.suites.speed_answers import speed_answers
from langgraph_prefetch.suites.study_answers import study_answers

BATCHES = 2


def asked(
    arm: str, seconds: float, *, questions: int = 8, warm: bool = False, answer: str = "same", **values: Any
) -> list[RunRow]:
    """Every question in two batches; a little apart from each other, so that there is a spread."""
    return [
        RunRow(
            suite="speed",
            arm=arm,
            question_id=f"q{number}",
            question="?",
            seconds=seconds + 0.01 * ((7 * number + 3 * batch + len(arm)) % 5),
            batch=batch,
            warm=warm,
            answer=answer,
            **values,
        )
        for number in range(questions)
        for batch in range(BATCHES)
    ]


def became(answers: tuple[Answer, ...]) -> list[str]:
    return [each.became for each in answers]


def test_speed_where_all_of_it_holds() -> None:
    """Equal times are no claim: they were not found to differ, and no more is said."""
    rows = [*asked("bare", 5.0), *asked("wrapped", 4.0), *asked("direct", 5.0), *asked("wrapped", 3.5, warm=True)]
    found = speed_answers([*rows, *asked("bare", 5.0, warm=True)], seed=1)
    assert became(found) == ["held", "held", "no difference found", "no difference found", "held"]
    assert "p = 0.0078, 8 questions" in found[0].found
    assert "does not show that there is none" in found[3].found


def test_speed_where_nothing_of_it_holds() -> None:
    """Slower, slower still when warm, a direct run that costs, batches apart, and another answer."""
    apart = [row for row in asked("bare", 5.0) if row.batch == 0] + [row for row in asked("bare", 7.0) if row.batch]
    rows = [*apart, *asked("wrapped", 8.0, answer="other"), *asked("direct", 9.0), *asked("wrapped", 9.0, warm=True)]
    found = speed_answers(rows, seed=1)
    assert became(found) == ["not shown", "not shown", "not held", "not held", "not held"]


def test_a_question_asked_again_is_no_new_question() -> None:
    """Two questions, however often they are asked, show nothing: p is never below 0.5."""
    rows = [
        RunRow(suite="speed", arm=arm, question_id=name, question="?", seconds=value + repeat / 100, repeat=repeat)
        for arm, value in (("bare", 5.0), ("wrapped", 4.0))
        for name in ("a", "b")
        for repeat in range(30)
    ]
    assert speed_answers(rows, seed=1)[0].became == "not shown"


def test_without_rows_nothing_can_be_told() -> None:
    """And nothing is said to hold."""
    assert set(became(speed_answers([], seed=1))) == {"cannot be told"}
    assert set(became(study_answers([], [], end_to_end([], seed=1), arm="series"))) == {"cannot be told"}


def search(answered: Any, seconds: float, *, as_real: bool = True) -> SearchRow:
    lookup = 0.0002 if answered == "ready" else None
    return SearchRow(query="q", answered=answered, seconds=seconds, as_real=as_real, lookup_seconds=lookup)


def studied(*, hit: float, miss: float, as_real: bool = True) -> tuple[list[RunRow], list[RunRow]]:
    served, ran = (search("ready", hit, as_real=as_real),), (search("ran", 0.7),)
    series = [*asked("series", 4.0, searches=served), *asked("series", 3.0, warm=True, searches=served)]
    compared = [
        *asked("bare", 5.0, kind="fact", searches=ran),
        *asked("wrapped", 4.0, kind="fact", searches=served),
        *asked("direct", 5.0, kind="fact", searches=ran),
        *asked("reasoning", 5.0, kind="fact", searches=(search("ran", miss),)),
    ]
    return series, compared


def test_the_study_where_it_holds() -> None:
    """One type of question cannot differ from others, and there is none without a search."""
    series, compared = studied(hit=0.01, miss=0.6)
    found = study_answers(series, compared, end_to_end(compared, seed=1), arm="series")
    assert became(found) == [*["held"] * 5, "no difference found", "cannot be told", "cannot be told"]


def test_the_study_where_it_does_not() -> None:
    """A hit that waits as long, a miss that waits longer, passages that are not the real query's."""
    series, compared = studied(hit=0.7, miss=3.0, as_real=False)
    found = study_answers(series, compared, end_to_end(compared, seed=1), arm="series")
    assert [each.became for each in found[1:5]] == ["not held", "held", "not shown", "not held"]


def test_the_study_where_wrapped_runs_are_slower() -> None:
    """Surely, so that p alone would let it pass; and a look at the cache takes longer than a millisecond."""
    slow = SearchRow(query="q", answered="ready", seconds=2.0, as_real=True, lookup_seconds=0.0012)
    compared = [
        *asked("bare", 4.0, kind="fact", searches=(search("ran", 0.7),)),
        *asked("wrapped", 5.0, kind="fact", searches=(slow,)),
        *asked("direct", 4.0, kind="fact", searches=(search("ran", 0.7),)),
    ]
    found = study_answers([], compared, end_to_end(compared, seed=1), arm="series")
    assert [each.became for each in found[:5]] == [
        *("not shown", "cannot be told", "not held", "not shown", "cannot be told")
    ]
    assert "p < 0.0001" in found[3].found, "a hit that waits longer differs, too"


@pytest.mark.parametrize(
    ("searching", "without", "became_of_types", "became_of_none"),
    [
        ((1.0, 1.2, 0.9, 1.1, 1.0, 1.3), (0.01, -0.02, 0.02, -0.01, 0.0, 0.01), "held", "no difference found"),
        ((1.0, 1.2, 0.9, 1.1, 1.0, 1.3), (0.5, 0.6, 0.5, 0.7, 0.6, 0.5), "held", "not held"),
        ((0.1, -0.2, 0.3, -0.1, 0.0, 0.2), (0.2, -0.1, 0.1, -0.2, 0.1, 0.0), "not shown", "no difference found"),
    ],
)
def test_savings_by_type_of_question(
    searching: tuple[float, ...], without: tuple[float, ...], became_of_types: str, became_of_none: str
) -> None:
    """That questions without a search save nothing is never shown: at best no difference is found."""
    compared = [
        RunRow(suite="study", arm=arm, question_id=f"{kind}{number}", question="?", kind=kind, seconds=5.0 - less)
        for kind, savings in (("fact", searching), ("no search", without))
        for number, saved in enumerate(savings)
        for arm, less in (("bare", 0.0), ("wrapped", saved))
    ]
    found = study_answers([], compared, end_to_end(compared, seed=1), arm="series")
    assert became(found[-2:]) == [became_of_types, became_of_none]


def test_tests_that_find_a_difference_are_named() -> None:
    """With their p."""
    apart = kruskal_wallis({"a": [1.0, 2.0, 3.0, 4.0, 5.0], "b": [11.0, 12.0, 13.0, 14.0, 15.0]})
    alike = kruskal_wallis({"a": [1.0, 2.0, 3.0, 4.0, 5.0], "b": [1.5, 2.5, 3.5, 4.5, 0.5]})
    assert no_difference("c", [("x", alike), ("y", apart)]).became == "not held"
    assert no_difference("c", [("x", alike)]).became == "no difference found"
    assert no_difference("c", []).became == "cannot be told"


def bill(arm: str, *, model: int, wasted: int, queue: int) -> Bill:
    lines = [("model output", "model", model), ("wasted retrievals", "retrieval", wasted), ("queue", "queue", queue)]
    return Bill(
        arm=arm,
        questions=10,
        currency="USD",
        lines=tuple(
            Line(name=name, group=group, quantity=Counted(known=Decimal(n)), unit="u", unit_price=Decimal("0.003"))
            for name, group, n in lines
        ),
    )


@pytest.mark.parametrize(("model", "says"), [(100, "held"), (90, "held"), (101, "not held")])
def test_what_a_wrapped_agent_may_cost_more_by(model: int, says: str) -> None:
    """Wasted searches and what runs them elsewhere; not more of the model."""
    bare, wrapped = bill("bare", model=100, wasted=0, queue=0), bill("wrapped", model=model, wasted=4, queue=9)
    found = cost_answers([bare, wrapped], [difference(bare, wrapped)])
    assert became(found) == [says, "held"]
    assert ("model output +" in found[0].found) == (says == "not held")


def test_what_runs_did_not_tell_cannot_be_said_to_cost_nothing() -> None:
    """Unless what is known is too much already."""
    bare, same, more = (bill(arm, model=n, wasted=0, queue=0) for arm, n in (("bare", 9), ("wrapped", 9), ("more", 10)))
    untold = Line(
        name="model input",
        group="model",
        quantity=Counted(known=Decimal(), unknown_runs=3),
        unit="u",
        unit_price=Decimal("0.003"),
    )
    bare, same, more = (dataclasses.replace(each, lines=(untold, *each.lines)) for each in (bare, same, more))
    found = cost_answers([bare, same, more], [difference(bare, same), difference(bare, more)])
    assert became(found) == ["cannot be told", "not held", "held"]
    assert "did not tell: model input" in found[0].found


def test_a_smoke_run_says_so_under_the_table() -> None:
    """Its figures mean nothing, and neither does what became of them."""
    answers = speed_answers([], seed=1)
    assert "smoke run" in repr(answers_section(answers, smoke=True))
    assert "smoke run" not in repr(answers_section(answers, smoke=False))


def test_another_unit_scales_the_interval_too() -> None:
    """-0.7 s is -700 ms, from its lower end to its upper."""
    seconds = mean([-0.5, -0.9, -0.7, -0.6])
    ms = scaled(seconds, 1_000)
    assert seconds.value is not None
    assert seconds.interval is not None
    assert ms.interval is not None
    assert ms.value == pytest.approx(1_000 * seconds.value)
    assert (ms.interval.low, ms.interval.high) == pytest.approx(
        (1_000 * seconds.interval.low, 1_000 * seconds.interval.high)
    )
    assert scaled(mean([]), 1_000).value is None
