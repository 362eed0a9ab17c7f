"""Launch, join or ignore: every branch, without I/O."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.config import Budgets
from langgraph_prefetch.speculation.flight import FlightState
from langgraph_prefetch.speculation.scheduler import Ignore, Join, Launch, Spent, Unclaimed, decide, to_cancel
from langgraph_prefetch.values import Source

BUDGETS = Budgets(guesses_per_step=2, sealed_per_step=3, per_run=10, per_scope_per_minute=20, per_process_per_minute=30)
SOURCES = st.sampled_from((Source.REASONING, Source.SEALED))
COUNTS = st.integers(0, 40)
SPENT = st.builds(
    Spent, guesses_in_step=COUNTS, sealed_in_step=COUNTS, in_run=COUNTS, in_scope=COUNTS, in_process=COUNTS
)


@pytest.mark.parametrize("state", [FlightState.QUEUED, FlightState.RUNNING, FlightState.READY])
@pytest.mark.parametrize("source", [Source.REASONING, Source.SEALED])
def test_what_is_under_way_or_ready_is_joined(state: FlightState, source: Source) -> None:
    """The same retrieval is never started twice, and joining costs no budget."""
    assert decide(source, state, Spent(in_run=99), BUDGETS) == Join()


def test_a_failure_holds_back_further_speculation() -> None:
    """A backend that just failed is left alone; only speculation waits, never a call."""
    assert decide(Source.SEALED, FlightState.FAILED, Spent(), BUDGETS) == Ignore("failed a moment ago")


@pytest.mark.parametrize("state", [None, FlightState.CANCELLED])
def test_what_is_not_there_is_launched(state: FlightState | None) -> None:
    """Nothing there, or something given up: a new one starts."""
    assert decide(Source.REASONING, state, Spent(), BUDGETS) == Launch()


@pytest.mark.parametrize(
    ("source", "spent", "name"),
    [
        (Source.REASONING, Spent(guesses_in_step=2), "guesses_per_step"),
        (Source.SEALED, Spent(sealed_in_step=3), "sealed_per_step"),
        (Source.SEALED, Spent(in_run=10), "per_run"),
        (Source.REASONING, Spent(in_scope=20), "per_scope_per_minute"),
        (Source.REASONING, Spent(in_process=30), "per_process_per_minute"),
    ],
)
def test_a_used_up_budget_is_named(source: Source, spent: Spent, name: str) -> None:
    """Whoever wonders why nothing started reads which budget it was."""
    assert decide(source, None, spent, BUDGETS) == Ignore(f"budget: {name}")


def test_guesses_and_sealed_calls_have_budgets_of_their_own() -> None:
    """Wrong guesses do not stop an exact call from starting, nor the other way round."""
    assert decide(Source.SEALED, None, Spent(guesses_in_step=99), BUDGETS) == Launch()
    assert decide(Source.REASONING, None, Spent(sealed_in_step=99), BUDGETS) == Launch()


@given(SOURCES, SPENT)
def test_no_budget_is_ever_exceeded(source: Source, spent: Spent) -> None:
    """A launch is allowed only where one more still fits into every budget."""
    if decide(source, None, spent, BUDGETS) == Launch():
        assert spent.in_run < BUDGETS.per_run
        assert spent.in_scope < BUDGETS.per_scope_per_minute
        assert spent.in_process < BUDGETS.per_process_per_minute


@given(SOURCES, SPENT)
def test_a_budget_of_nothing_starts_nothing(source: Source, spent: Spent) -> None:
    """Zero is a budget too."""
    assert isinstance(decide(source, None, spent, Budgets(per_run=0)), Ignore)


def test_a_real_call_cancels_waiting_guesses_of_its_own_tool() -> None:
    """Given up: queued guesses of the tool. Kept: what runs, exact calls, and other tools."""
    rows = [
        Unclaimed(id="waiting guess", tool="search", source=Source.REASONING, state=FlightState.QUEUED),
        Unclaimed(id="running guess", tool="search", source=Source.REASONING, state=FlightState.RUNNING),
        Unclaimed(id="ready guess", tool="search", source=Source.REASONING, state=FlightState.READY),
        Unclaimed(id="exact", tool="search", source=Source.SEALED, state=FlightState.QUEUED),
        Unclaimed(id="other", tool="find", source=Source.REASONING, state=FlightState.QUEUED),
    ]
    assert to_cancel("search", rows) == ("waiting guess",)
