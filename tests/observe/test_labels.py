"""Labels stay few, and counts of false starts add up, whatever events say."""

import pytest

from langgraph_prefetch.events import Fate, RunEnded, SearchCallAnswered, SpeculationStarted
from langgraph_prefetch.observe.false_starts import FalseStarts
from langgraph_prefetch.observe.labels import ANOTHER_TOOL, OTHER, REASONS, Labels, ReasonLabels
from langgraph_prefetch.observe.rate_limit import MAX_KINDS, PerMinute
from langgraph_prefetch.report import Tally
from langgraph_prefetch.values import Source
from tests.observe.otel.events import many_runs


def test_only_so_many_values_become_labels() -> None:
    """The first ones keep their names for ever; a later one is counted under `other`."""
    labels = Labels(2)
    assert [labels.of(value) for value in ("a", "b", "c", "a", "b", "d")] == ["a", "b", OTHER, "a", "b", OTHER]


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_known_reasons_are_labels_however_many_others_came(reason: str) -> None:
    """A flood of unknown reasons hides no known one."""
    labels = ReasonLabels(1)
    labels.of("something new")
    assert labels.of(reason) == reason


@pytest.mark.parametrize(
    ("reason", "label"),
    [
        ("tool book_flight ran", ANOTHER_TOOL),
        ("tool a\nb ran", ANOTHER_TOOL),
        ("value: 0.31 under 0.4", "value"),
        ("ConnectionError", "ConnectionError"),
        ("after 3 tries", OTHER),
    ],
)
def test_details_of_a_reason_are_left_out(reason: str, label: str) -> None:
    """Names and numbers in a reason make no label of their own."""
    assert ReasonLabels().of(reason) == label


def test_reasons_in_events_of_real_runs_are_known() -> None:
    """Every reason that the engine gives in a run with hits, misses, cancellations and other tools has its label."""
    told = [event for event in many_runs() if getattr(event, "fate", None) is not Fate.FAILED]  # there: an error
    reasons = {reason for event in told if isinstance(reason := getattr(event, "reason", None), str)}
    assert len(reasons) >= 4
    strict = ReasonLabels(0)
    assert {reason for reason in reasons if strict.of(reason) == OTHER} == set()


def test_false_starts_are_the_reports() -> None:
    """Counted here and by the report's own tally they are the same."""
    tally, counts = Tally(), FalseStarts()
    total = 0
    for event in many_runs():
        tally(event)
        total += counts.see(event)
    assert total == tally.report().false_starts > 0


def _start(run_id: str, source: Source = Source.REASONING) -> SpeculationStarted:
    return SpeculationStarted(
        run_id=run_id, step=1, at=0.0, speculation_id="s", tool="search", source=source, probability=1.0, cue="c"
    )


def test_only_guesses_are_false_starts_and_open_runs_are_bounded() -> None:
    """A sealed call is a call; of runs that never end the oldest are forgotten."""
    counts = FalseStarts(max_open_runs=2)
    for name in ("1", "2", "3"):
        counts.see(_start(name))
    counts.see(_start("2", Source.SEALED))
    ends = [counts.see(RunEnded(run_id=name, at=1.0, idle=False)) for name in ("1", "2", "3", "3")]
    assert ends == [0, 1, 1, 0]


def test_a_step_that_searched_is_no_false_start() -> None:
    """Guessing wrongly before a search is not one either: it is waste."""
    counts = FalseStarts()
    counts.see(_start("1"))
    counts.see(
        SearchCallAnswered(
            run_id="1", step=1, at=0.0, call_id=None, tool="search", source=None, speculation_id=None, late=False,
            reason="", waited_seconds=0, retrieval_seconds=0, lead_seconds=0, hideable_seconds=0, hidden_seconds=0,
        )
    )  # fmt: skip
    assert counts.see(RunEnded(run_id="1", at=1.0, idle=False)) == 0


def test_a_limit_lets_so_many_through_and_counts_the_rest() -> None:
    """Each kind has its own minute; what was refused is told with the next that is allowed."""
    limit = PerMinute(2)
    assert [limit.ask("a", second) for second in (0, 1, 2, 3)] == [0, 0, None, None]
    assert limit.ask("b", 3) == 0
    assert [limit.ask("a", second) for second in (59.9, 60, 61)] == [None, 3, 0]


def test_the_kinds_of_a_limit_are_bounded() -> None:
    """Errors with ever new names cannot fill the memory."""
    limit = PerMinute(1)
    for number in range(10 * MAX_KINDS):
        limit.ask(number, 0)
    assert len(limit._kinds) == MAX_KINDS
