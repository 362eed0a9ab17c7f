"""States of every shape, and nodes that are tried again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langgraph.types import RetryPolicy

from langgraph_prefetch.testing.script import Turn, turn_of
from langgraph_prefetch.testing.tools import CountingSearch
from tests.graph.matrix.compare import compare, observe, prefetched, question
from tests.graph.matrix.kinds import SEARCHES, DataState, ModelState, World, drawn
from tests.graph.matrix.styles import STYLES

CALLED = ("invoke", "ainvoke", "stream-everything", "astream_events-v2")


@pytest.mark.parametrize("style", ["invoke-v2", "ainvoke-v2", "stream-v2", "astream-v2", "stream_events-v3"])
@pytest.mark.parametrize("schema", [ModelState, DataState])
def test_a_state_that_is_an_object_stays_one(schema: type, style: str) -> None:
    """``version="v2"`` gives pydantic models and dataclasses back as such."""
    assert compare(partial(drawn, schema=schema), STYLES[style]).served == 2


class Stumbling:
    """A script whose model breaks off the first time, at the end of its stream."""

    def __init__(self) -> None:
        self._broken = threading.Event()

    def __call__(self, messages: Sequence[BaseMessage]) -> Turn:
        turn = turn_of(SEARCHES, messages)
        if self._broken.is_set():
            return turn
        self._broken.set()
        return replace(turn, error=ConnectionError("reset"))


POLICY = RetryPolicy(initial_interval=0.001, jitter=False, retry_on=ConnectionError)


@pytest.mark.parametrize("style", CALLED)
def test_a_model_node_that_is_tried_again(style: str) -> None:
    """What a broken stream has made readable is started once; the same text streamed again joins it."""
    report = compare(drawn, STYLES[style], lambda: World(Stumbling(), retry=POLICY))

    assert (report.served, report.speculations) == (2, 2)


def failing_once() -> Callable[[str, int], Any]:
    """An answer that is an error the first time."""
    failed = threading.Event()

    def answer(query: str, k: int) -> str:
        if not failed.is_set():
            failed.set()
            raise ConnectionError("reset")
        return f"about {query}"

    return answer


@pytest.mark.parametrize("style", ["invoke", "ainvoke"])
def test_a_backend_that_fails_once_is_asked_again(style: str) -> None:
    """Bare the node is tried again; wrapped the speculation fails and the real call comes next: as many calls."""
    worlds = [World(search=CountingSearch(answer=failing_once()), retry=POLICY) for _ in range(2)]
    bare = observe(drawn(worlds[0]), worlds[0], STYLES[style])
    wrapped = observe(prefetched(drawn(worlds[1])), worlds[1], STYLES[style])

    assert wrapped.parts == bare.parts
    assert wrapped.searches == bare.searches == ["Eiffel Tower", "Eiffel Tower", "Louvre Museum"]


@pytest.mark.parametrize("style", CALLED)
def test_a_model_that_fails_for_good(style: str) -> None:
    """Its error reaches the caller, and what it had made readable is given up."""
    turns = (replace(SEARCHES[0], error=ValueError("no such model")),)
    report = compare(drawn, STYLES[style], lambda: World(turns), backend=False)

    assert report.served == 0
    assert report.speculations == report.wasted + report.cancelled


def test_the_recursion_limit_is_reached_alike() -> None:
    """A loop ends with the host's own error."""

    def call(graph: Any, state: Any, config: Any) -> list[Any]:
        return list(graph.stream(question(), {**config, "recursion_limit": 3}))

    compare(drawn, replace(STYLES["stream-values"], call=call))
