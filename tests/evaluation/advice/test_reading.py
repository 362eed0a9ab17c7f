"""When tokens came, when a query could be read, what a tool is: pure functions of what was recorded."""

import pytest

from langgraph_prefetch.evaluation.advice.names import may_search_passages, suspicion_of
from langgraph_prefetch.evaluation.advice.readable import readability
from langgraph_prefetch.evaluation.advice.schedule import Timing, schedule
from langgraph_prefetch.evaluation.advice.tools import facts_of
from langgraph_prefetch.evaluation.importers.values import TracedRun, TracedStep
from langgraph_prefetch.values import TextDelta
from tests.evaluation.advice.made import call, run, step

FOUR = tuple(TextDelta(piece) for piece in ("I ", "need ", "it ", "now"))


def test_times_that_were_recorded_are_taken() -> None:
    """As they are, but for a clock that ran backwards."""
    found = schedule(TracedStep(deltas=FOUR, times=(0.1, 0.3, 0.2, 0.4), seconds=0.5), 50)
    assert (found.at, found.end, found.timing) == ((0.1, 0.3, 0.3, 0.4), 0.5, Timing.RECORDED)


def test_a_duration_is_spread_over_the_tokens() -> None:
    """Evenly from the first token on; where that is not known, from the start."""
    found = schedule(TracedStep(deltas=FOUR, first=1.0, seconds=3.0), 50)
    assert found.at == pytest.approx((1.0, 1.5, 2.0, 2.5))
    assert (found.end, found.timing) == (3.0, Timing.SPREAD)
    assert schedule(TracedStep(deltas=FOUR, seconds=1.0), 50).at == pytest.approx((0.2, 0.4, 0.6, 0.8))


def test_what_was_not_recorded_comes_at_the_assumed_speed() -> None:
    """As in a replay: the first after one token's time, the end one later; a long piece is many tokens."""
    found = schedule(TracedStep(deltas=FOUR), 10)
    assert found.at == pytest.approx((0.1, 0.2, 0.3, 0.4))
    assert found.end == pytest.approx(0.5)
    assert found.timing is Timing.ASSUMED
    assert schedule(TracedStep(deltas=(TextDelta("one two three four"),)), 10).at == pytest.approx((0.4,))
    assert schedule(TracedStep(deltas=()), 10).end == pytest.approx(0.1)


def seconds(*runs: TracedRun, tool: str = "search") -> tuple[float, ...]:
    found = readability(runs, tool, "query", tokens_per_second=10, graph_step_seconds=0.0)
    return found.seconds


def test_a_query_is_readable_from_its_last_token_on() -> None:
    """In the thought, or in the arguments when they close; the gap to the tool counts; what stood nowhere counts 0."""
    said = step("I need Ada Lovelace for this. ", call("Ada Lovelace"))
    tokens = len(said.deltas)
    assert seconds(run(said))[2] == pytest.approx((tokens + 1 - 5) / 10, abs=0.11)  # "I need Ada Lovela|ce"
    sealed = step("No. ", call("Ada Lovelace"))
    assert seconds(run(sealed))[2] == pytest.approx(0.1)
    assert seconds(run(step("No. ", call("Ada Lovelace"), gap=2.0)))[2] == pytest.approx(2.1)
    unsaid = TracedStep(deltas=FOUR, calls=(call("Ada Lovelace"),))
    assert seconds(run(unsaid))[2] == 0.0


def test_of_calls_side_by_side_the_first_closes_first() -> None:
    """Each call of a message has its own moment."""
    both = step("No. ", call("Ada Lovelace"), call("Charles Babbage, who built it"))
    low, *_, high = seconds(run(both))
    assert low < high


def test_queries_are_kept_only_where_they_may_be_shown() -> None:
    """A query is in no result unless it was asked for."""
    runs = [run(step("No. ", call(f"secret {number}"))) for number in range(9)]
    quiet, shown = (
        readability(runs, "search", "query", tokens_per_second=50, graph_step_seconds=0.0, show=show) for show in (0, 3)
    )
    assert quiet.late_queries == ()
    assert shown.late_queries == ("secret 0", "secret 1", "secret 2")
    assert "secret" not in repr(shown)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("search", "reads"),
        ("web_search_20250305", "reads"),
        ("getUserDetails", "reads"),
        ("HTTPGet", "reads"),
        ("send_email", "acts"),
        ("search_and_book", "acts"),
        ("get_or_create", "acts"),
        ("python_repl_tool", "acts"),
        ("transfer_to_agent", "acts"),
        ("handoff_to_planner", "acts"),
        ("dataset", "unknown"),
        ("settle", "unknown"),
        ("x", "unknown"),
    ],
)
def test_what_a_name_says(name: str, says: str) -> None:
    """Whole words count, in every way of writing names; one that acts outweighs any that reads."""
    assert suspicion_of(name) == says


def test_only_searches_are_told_of_near_misses() -> None:
    """A calculator has no passages."""
    assert may_search_passages("local_search_tool")
    assert not may_search_passages("calculate")


def test_the_query_is_the_argument_that_varies() -> None:
    """Constant numbers are passed by guesses too; constant texts only where texts may be shown."""
    runs = [run(step("", call({"query": f"q{n}", "k": 5}))) for n in range(30)]
    (facts,) = facts_of(runs, 0.5)
    assert (facts.query_argument, facts.fixed, facts.calls, facts.runs) == ("query", {"k": 5}, 30, 30)
    runs = [run(step("", call({"title": f"q{n}", "tenant": "acme"}))) for n in range(30)]
    assert facts_of(runs, 0.5)[0].query_argument is None
    (facts,) = facts_of(runs, 0.5, texts=True)
    assert (facts.query_argument, facts.fixed) == ("title", {"tenant": "acme"})
    assert "acme" not in repr(facts)


def test_a_tool_whose_arguments_all_vary_has_no_query() -> None:
    """As a flight search: nobody could fill the rest."""
    runs = [run(step("", call({"origin": f"a{n}", "destination": f"b{n}"}))) for n in range(30)]
    assert facts_of(runs, 0.5)[0].query_argument is None
    assert facts_of([run(step("", call({"query": ["a"]})))], 0.5)[0].query_argument is None


def test_durations_are_the_median_of_the_recorded_ones() -> None:
    """What was assumed is not mixed in."""
    calls = [call("a", seconds=0.1), call("b", seconds=0.3), call("c", seconds=2.0), call("d")]
    (facts,) = facts_of([run(*(step("", each) for each in calls))], 9.0)
    assert (facts.typical_seconds, facts.recorded) == (0.3, 3)
    assert facts_of([run(step("", call("a")))], 9.0)[0].typical_seconds == 9.0
