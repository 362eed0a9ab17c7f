"""Several agents at the same time."""

import threading

import pytest

from langgraph_prefetch.demo.threads import all_at_once, side_by_side


def test_both_run_at_the_same_time() -> None:
    """Each waits for the other, and the results come in order."""
    meeting = threading.Barrier(2, timeout=20)

    def work(name: str) -> str:
        meeting.wait()
        return name

    assert side_by_side(lambda: work("one"), lambda: work("other")) == ("one", "other")
    assert all_at_once(lambda name=name: work(name) for name in ("a", "b")) == ["a", "b"]  # type: ignore[misc]


def test_an_error_is_raised_where_it_is_waited_for() -> None:
    """No failure of an agent is lost on its thread."""

    def fail() -> None:
        raise LookupError("nothing here")

    with pytest.raises(LookupError, match="nothing here"):
        side_by_side(lambda: None, fail)
