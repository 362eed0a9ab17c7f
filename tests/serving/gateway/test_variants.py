"""Variants behind one gateway, swapped live; pipelines."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.events import PipelineEnded
from langgraph_prefetch.serving.gateway import BreakerRule, VariantSplit, gateway, pipeline
from tests.serving.gateway.parts import Component, Docs, Log, in_threads


def of(user: str) -> Any:
    return {"configurable": {"user_id": user}}


def test_a_key_keeps_its_variant() -> None:
    """By trusted configuration alone; a call without a key goes to the gateway's own component."""
    split = VariantSplit(name="size", variants={"new": Component("new")}, key="user_id")
    gated = gateway(Component("old"), variants=split)
    given = {f"u{number}": gated.invoke("?", of(f"u{number}")) for number in range(50)}
    assert set(given.values()) == {"old", "new"}
    assert given == {user: gated.invoke("?", of(user)) for user in given}
    assert gated.invoke("?") == "old"


def test_variants_have_breakers_of_their_own() -> None:
    """One that is down takes nobody else with it."""
    log = Log()
    split = VariantSplit(name="size", variants={"new": Component("new", ConnectionError("down"))}, key="user_id")
    gated = gateway(
        Component("old"),
        name="writer",
        variants=split,
        fallback=lambda given: "small",
        breaker=BreakerRule(failures=1, open_seconds=60),
        events=log,
    )
    answers = {gated.invoke("?", of(f"u{number}")) for number in range(20)}
    assert answers == {"old", "small"}
    assert {each.name: each.breaker for each in gated.gateway.components()} == {  # type: ignore[attr-defined]
        "writer": "closed",
        "new": "opened",
        "fallback": "closed",
    }
    assert {each.variant for each in log.calls} == {"default", "new"}


def test_swapping_while_calls_run_loses_none() -> None:
    """Each call is answered by one of the variants that there were when it began."""
    split = VariantSplit(name="size", variants={"new": Component("new-0")}, key="user_id")
    gated = gateway(Component("old"), variants=split, price=0.01)
    with in_threads(4, lambda number: [gated.invoke("?", of(f"{number}-{each}")) for each in range(100)]) as found:
        for number in range(1, 20):
            gated.gateway.swap({"new": Component(f"new-{number}")})  # type: ignore[attr-defined]
    answers = [each for thread in found for each in thread]
    assert len(answers) == 400
    assert all(each == "old" or each.startswith("new-") for each in answers)
    gated.gateway.swap(weights={"default": 0, "new": 1})  # type: ignore[attr-defined]
    assert gated.invoke("?", of("anybody")) == "new-19"
    assert gated.gateway.account.statement().total == Decimal("4.01")  # type: ignore[attr-defined]


def test_a_variant_of_another_kind_is_refused_and_nothing_changes() -> None:
    """When it is made, and when it is swapped in."""
    with pytest.raises(ConfigurationError, match="'new' is a Component, and the component a BaseRetriever"):
        gateway(Docs(), variants=VariantSplit(name="size", variants={"new": Component("new")}))
    gated = gateway(Docs(), variants=VariantSplit(name="size", variants={"new": Docs(text="new")}, key="user_id"))
    with pytest.raises(ConfigurationError, match="a BaseRetriever"):
        gated.gateway.swap({"new": Component("new")})  # type: ignore[attr-defined]
    assert gated.invoke("?", of("u1"))


def test_variants_are_priced_apart() -> None:
    """Each by its own price, else by the gateway's."""
    split = VariantSplit(
        name="size",
        variants={"new": Component("new"), "other": Component("other")},
        weights={"default": 0, "new": 1, "other": 1},
        key="user_id",
        prices={"new": 0.5},
    )
    gated = gateway(Component("old"), variants=split, price=0.25)
    answers = [gated.invoke("?", of(f"u{number}")) for number in range(20)]
    costs = gated.gateway.account.statement().by_component()  # type: ignore[attr-defined]
    assert costs["old", "new"] == Decimal("0.5") * answers.count("new")
    assert costs["old", "other"] == Decimal("0.25") * answers.count("other")


def test_a_pipeline_adds_up_its_calls() -> None:
    """In whatever thread they ran, with LangChain carrying the context; refused ones are none."""
    log = Log()
    searched = gateway(Docs(failing=True), fallback=Docs(), fallback_price=0.002)
    graded = gateway(Component("grade"), name="grade", price=0.01)
    with pipeline("answer", log) as request:
        searched.batch(["a", "b"])
        graded.invoke("?")
    graded.invoke("outside")
    assert (request.calls, request.degraded, request.failed) == (5, 2, 2)
    assert request.cost == Decimal("0.014")
    (event,) = log
    assert isinstance(event, PipelineEnded)
    assert (event.pipeline, event.calls, event.cost, event.error) == ("answer", 5, "0.014", None)


def test_a_pipeline_that_fails_says_so() -> None:
    """With the class of its error, which passes."""
    log = Log()
    with pytest.raises(LookupError), pipeline("answer", log):
        raise LookupError
    (event,) = log
    assert isinstance(event, PipelineEnded)
    assert (event.error, event.cost) == ("LookupError", None)
