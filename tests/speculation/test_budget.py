"""Sliding budgets: what started within the last minute, per scope and in the process."""

import threading

from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.keys import shared_scope
from langgraph_prefetch.speculation.budget import Ledger
from langgraph_prefetch.speculation.latency import WINDOW, TypicalSeconds
from langgraph_prefetch.testing.clock import FakeClock

A, B = shared_scope("a"), shared_scope("b")


def test_the_minute_slides() -> None:
    """What is a minute old no longer counts, what is younger does."""
    clock = FakeClock()
    ledger = Ledger(clock)
    for seconds in (0, 30, 29):
        clock.pass_(seconds)
        assert ledger.admit(A, 10, 10) is None
    assert ledger.counts(A) == (3, 3)
    clock.pass_(1)
    assert ledger.counts(A) == (2, 2)
    clock.pass_(59)
    assert ledger.counts(A) == (0, 0)


def test_scopes_are_counted_apart_and_together() -> None:
    """One scope's use leaves another's budget alone; the process counts both, and runs without a scope too."""
    ledger = Ledger(FakeClock())
    assert [ledger.admit(scope, 2, 5) for scope in (A, A, A, B, None, None, None)] == [
        None,
        None,
        "per_scope_per_minute",
        None,
        None,
        None,
        "per_process_per_minute",
    ]
    assert ledger.counts(A) == (2, 5)
    assert ledger.counts(None) == (0, 5)


def test_what_was_not_started_is_given_back() -> None:
    """A full queue does not use up the budget."""
    ledger = Ledger(FakeClock())
    assert ledger.admit(A, 1, 1) is None
    ledger.withdraw(A)
    assert ledger.counts(A) == (0, 0)
    assert ledger.admit(A, 1, 1) is None
    ledger.withdraw(B)  # of a scope that started nothing
    assert ledger.counts(A) == (1, 0)


def test_threads_cannot_exceed_a_budget() -> None:
    """Looking and counting is one step: 16 threads at once get exactly what there is."""
    ledger = Ledger(FakeClock())
    admitted: list[bool] = []

    def ask() -> None:
        admitted.extend(ledger.admit(A, 500, 10_000) is None for _ in range(200))

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(admitted) == 500


@given(st.lists(st.tuples(st.floats(0, 40), st.booleans()), max_size=60), st.integers(1, 5))
def test_within_any_minute(moves: list[tuple[float, bool]], budget: int) -> None:
    """In no window of a minute does more start than the budget says."""
    clock, times = FakeClock(), []
    ledger = Ledger(clock)
    for seconds, shared in moves:
        clock.pass_(seconds)
        if ledger.admit(A if shared else None, 100, budget) is None:
            times.append(clock())
    assert all(sum(at - 60 < other <= at for other in times) <= budget for at in times)


def test_typical_seconds_is_a_high_quantile_of_the_last() -> None:
    """The 95th percentile by nearest rank; unknown before the first; old times are forgotten."""
    typical = TypicalSeconds()
    assert typical.get("search") is None
    typical.add("search", 2.0)
    assert typical.get("search") == 2.0
    for tenth in range(WINDOW):
        typical.add("search", tenth / 10)
    assert typical.get("search") == 2.9
    assert typical.get("find") is None
