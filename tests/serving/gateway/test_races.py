"""What happens in the moment between two things, and at the edge of what is remembered."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool

from langgraph_prefetch.errors import SpeculationDeclinedError
from langgraph_prefetch.events import Fate, SpeculationEnded
from langgraph_prefetch.serving.gateway import Account, AdaptiveLimit, LimitRule, Spilling, SpillRule, accounts, gateway
from langgraph_prefetch.serving.gateway.places import Places, SpilledError
from langgraph_prefetch.serving.gateway.prices import Charge
from langgraph_prefetch.values import Source
from tests.serving.gateway.parts import Clock, Component, Log, in_threads, speculation
from tests.serving.gateway.test_places import Held


def places(rule: LimitRule | None = None, spill: SpillRule | None = None) -> Places:
    spilling = None if spill is None else Spilling(spill)
    return Places("x", AdaptiveLimit(rule or LimitRule.fixed(1)), spilling, Clock())


def test_a_place_that_is_granted_to_somebody_who_leaves_is_given_back() -> None:
    """It went to whoever waited in the very moment that they gave up."""
    held = places()
    assert held.ask(speculative=False) is None
    waits = held.ask(speculative=False)
    assert waits is not None
    held.give_back(None)
    assert held.in_flight == 1
    held._leave(waits)
    assert held.in_flight == 0


def test_who_has_left_is_passed_over() -> None:
    """The place goes to the next one."""
    held = places()
    assert held.ask(speculative=False) is None
    gone, following = held.ask(speculative=False), held.ask(speculative=False)
    assert gone is not None
    assert following is not None
    gone.cancel()
    held.give_back(None)
    assert following.done()
    assert held.in_flight == 1


def test_time_in_the_queue_counts_for_spilling() -> None:
    """What a caller waits for is both: a queue is no quicker for being outside the component."""
    held = places(LimitRule.fixed(2), SpillRule(waiting=100, seconds=1.0, busy_share=0.0))
    assert held.ask(speculative=False) is None
    held.give_back(0.1, waited=5.0)
    with pytest.raises(SpilledError):
        held.ask(speculative=False)


def test_early_calls_neither_spill_nor_begin_to() -> None:
    """They are refused for want of a place, and the next demand finds the queue as it was."""
    held, log = Held(), Log()
    gated: Any = gateway(held, name="held", limit=1, spill_to=Component("serverless"), events=log)
    with in_threads(1, gated.invoke):
        assert held.entered.acquire(timeout=30)
        with speculation(), pytest.raises(SpeculationDeclinedError):
            gated.invoke("?")
        assert not gated.gateway.components()[0].spilling
        held.let.release(1)
    assert [each.reason for each in log.calls if each.outcome == "refused"] == ["OverLimitError"]


def ended(speculation: str) -> SpeculationEnded:
    return SpeculationEnded(
        run_id="r", step=1, at=0.0, speculation_id=speculation, tool="t", source=Source.REASONING, fate=Fate.SERVED,
        reason="",
    )  # fmt: skip


def test_what_is_forgotten_counts_as_wasted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing grows for ever: of too many open speculations the oldest is settled, of too many fates forgotten."""
    monkeypatch.setattr(accounts, "MAX_OPEN", 2)
    account, one = Account(), [Charge(what="calls", quantity=Decimal(1), unit_price=Decimal(1))]
    for name in ("a", "b", "c"):
        account.charge("g", "x", one, early=True, speculation=name)
    assert {str(line.fruit): int(line.quantity) for line in account.statement().lines} == {"open": 2, "wasted": 1}
    account = Account()
    for name in ("a", "b", "c"):
        account(ended(name))
    for name in ("a", "c"):
        account.charge("g", "x", one, early=True, speculation=name)
    assert {str(line.fruit): int(line.quantity) for line in account.statement().lines} == {"open": 1, "used": 1}


def test_run_hands_on_what_belongs_to_a_configuration() -> None:
    """Tags and callbacks of a tool that is run are those of its call."""

    @tool
    def search(query: str, config: RunnableConfig) -> str:
        """Search."""
        return ",".join(config.get("tags") or [])

    assert "here" in gateway(search).run({"query": "alpha"}, tags=["here"])
