"""Serve, wait or run the tool: every branch, without I/O."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.speculation.answer import (
    LEAST_PATIENCE_SECONDS,
    AnswerDecision,
    Found,
    RunTool,
    Serve,
    Wait,
    decide_answer,
    patience,
)
from langgraph_prefetch.speculation.flight import FlightState

SECONDS = st.floats(0, 1_000)


def decided(found: Found | None, **changed: float | None) -> AnswerDecision:
    values: dict[str, Any] = {"now": 100.0, "max_age": 60.0, "max_wait": 10.0, "typical": 1.0, **changed}
    return decide_answer(found, **values)


@pytest.mark.parametrize(
    ("found", "decision"),
    [
        (None, RunTool("nothing speculated")),
        (Found(state=FlightState.READY, as_of=99.0), Serve()),
        (Found(state=FlightState.READY, as_of=40.0), Serve()),
        (Found(state=FlightState.READY, as_of=39.9), RunTool("too old")),
        (Found(state=FlightState.RUNNING, as_of=99.5), Wait(1.5)),
        (Found(state=FlightState.RUNNING, as_of=39.9), RunTool("too old")),
        (Found(state=FlightState.QUEUED, as_of=-math.inf), RunTool("still queued")),
        (Found(state=FlightState.QUEUED, as_of=-math.inf, grace_until=100.0), RunTool("still queued")),
        (Found(state=FlightState.QUEUED, as_of=-math.inf, grace_until=100.25), Wait(0.25, begun=False)),
        (Found(state=FlightState.QUEUED, as_of=-math.inf, grace_until=200.0), Wait(10.0, begun=False)),
        (Found(state=FlightState.RUNNING, as_of=99.5, grace_until=100.25), Wait(1.5)),
        (Found(state=FlightState.FAILED, as_of=99.0), RunTool("speculation failed")),
        (Found(state=FlightState.FAILED, as_of=-math.inf), RunTool("speculation failed")),
        (Found(state=FlightState.CANCELLED, as_of=-math.inf), RunTool("speculation cancelled")),
    ],
)
def test_each_case(found: Found | None, decision: AnswerDecision) -> None:
    """Only a result that is ready and young enough is served; only a running one is waited for."""
    assert decided(found) == decision


@given(SECONDS, SECONDS, st.none() | SECONDS)
def test_waiting_is_bounded(running: float, max_wait: float, typical: float | None) -> None:
    """No call waits longer than it was told to, whatever the tool's past."""
    assert 0 <= patience(running, max_wait=max_wait, typical=typical) <= max_wait


def test_a_healthy_retrieval_is_joined_and_a_hung_one_left() -> None:
    """Patience is twice the usual time, less what has passed; then the tool runs anyway."""
    assert patience(0.25, max_wait=10, typical=0.5) == 0.75
    assert patience(8.0, max_wait=10, typical=0.5) == LEAST_PATIENCE_SECONDS
    assert patience(0.0, max_wait=10, typical=None) == 10


def test_reuse_of_any_age_is_never_older_than_allowed() -> None:
    """With no allowance for age even a fresh result is refused a moment later."""
    assert decided(Found(state=FlightState.READY, as_of=99.9), max_age=0.0) == RunTool("too old")
