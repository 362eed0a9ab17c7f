"""Near misses beside everything else: exact speculations, interrupts, ends of runs, and calls that need not wait."""

import gc
import threading
import weakref
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from langgraph_prefetch import Budgets, prefetcher_of, with_prefetch
from langgraph_prefetch.events import (
    NearAnswered,
    NearChecked,
    NearFetched,
    NearTierChanged,
    RunEnded,
    SearchCallAnswered,
    SpeculationEnded,
    SpeculationStarted,
)
from langgraph_prefetch.graph.near.runs import RunNear
from langgraph_prefetch.testing.models import Call, Turn
from langgraph_prefetch.values import Source
from tests.graph.cases.rigs import drawn, of_kind, tool_texts, until, watch
from tests.graph.near.rigs import (
    NOTHING_EARLY,
    WARM,
    Searching,
    Switching,
    Words,
    agent_of,
    memory,
    model_of,
    near,
    question,
    served,
    thinking,
    told,
    warmed,
)

QUERY = "market of Gorsley"


class Held(Searching):
    """A search that can be held up."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.gate = threading.Event()
        self.gate.set()

    def answer(self, query: str, k: int = 3) -> Any:
        assert self.gate.wait(10)
        return super().answer(query, k)


def start_early(prefetch: Any) -> None:
    """From now on a call's own search starts as its arguments close."""
    prefetch.options = replace(prefetch.options, budgets=Budgets(guesses_per_step=0))


def test_a_search_started_early_teaches_as_much() -> None:
    """Where the call's own search answers it late, that is what the tool returns: with it trust is earned."""
    searching = Held(memory())
    graph, prefetch = agent_of(thinking(*WARM), searching, near(searching.source), budgets=Budgets(guesses_per_step=0))
    events = watch(prefetch)
    searching.gate.clear()
    # Let a search go on only once the call has come, and its ranking was made.
    prefetch.subscribe(lambda event: searching.gate.set() if isinstance(event, NearAnswered) else None)
    prefetch.subscribe(lambda event: searching.gate.clear() if isinstance(event, SearchCallAnswered) else None)
    graph.invoke(question())
    searching.gate.set()
    assert [each.source for each in of_kind(events, SearchCallAnswered)] == [Source.SEALED] * 3
    told(events, NearChecked, 3)
    assert of_kind(events, NearTierChanged)[-1].open


def test_a_ranking_answers_before_a_search_that_is_still_running() -> None:
    """The call's own search had been started as its arguments closed; nobody waits for it any more."""
    searching = Held(memory())
    graph, prefetch, events = warmed(searching, near(searching.source), QUERY)
    start_early(prefetch)
    searching.gate.clear()
    try:
        graph.invoke(question())
    finally:
        searching.gate.set()
    assert served(events) == [True]
    (started,) = of_kind(events, SpeculationStarted)
    assert started.source is Source.SEALED
    until(lambda: of_kind(events, SpeculationEnded))
    assert of_kind(events, SpeculationEnded)[0].reason == "a near miss answered first"
    assert prefetch.report().troubles == 0


def test_an_exact_result_that_is_ready_goes_first() -> None:
    """No ranking is needed for what has been found already; the second of two equal calls is ranked."""
    searching = Searching(memory())
    graph, prefetch, events = warmed(searching, near(searching.source))
    start_early(prefetch)
    slow = Call("search", {"query": " ".join(WARM), "k": 3})
    turn = Turn(text="I think of markets.", calls=[Call("search", {"query": QUERY}), slow])
    model_of(graph).script = [turn, Turn(text="Done.")]
    model_of(graph).argument_pieces = 100  # the message goes on for long after the first call's arguments have closed
    graph.invoke(question())
    first = next(each for each in of_kind(events, SearchCallAnswered) if each.call_id == "call_1_0")
    assert (first.source, first.late) == (Source.SEALED, False)


def test_before_a_tool_is_trusted_its_calls_wait_for_nothing() -> None:
    """The embedder may hang for ever: the ranking is made beside the tool's own run."""
    searching, words = Searching(memory()), Words()
    words.gate = threading.Event()
    graph, prefetch = agent_of(thinking(*WARM), searching, near(searching.source, words))
    events = watch(prefetch)
    try:
        result = graph.invoke(question())
    finally:
        words.gate.set()
    assert tool_texts(result) == [searching.answer(each) for each in WARM]
    assert served(events) == [False] * 3
    assert max(each.waited_seconds for each in of_kind(events, SearchCallAnswered)) < 4


def test_an_interrupted_step_comes_again_with_what_was_served() -> None:
    """On resume the same call id is the same call: its answer is not ranked anew, and no search runs for it."""
    searching = Searching(memory())

    @tool
    def confirm(what: str) -> str:
        """Ask a person."""
        return f"confirmed: {interrupt(what)}"

    model = Switching(script=thinking(*WARM).script)
    graph: Any = with_prefetch(
        drawn(model, [searching.tool, confirm], checkpointer=InMemorySaver()),
        tools=["search"],
        serve="bounded",
        near={"search": near(searching.source)},
        force_streaming=True,
        budgets=NOTHING_EARLY,
    )
    events = watch(graph)
    graph.invoke(question(), {"configurable": {"thread_id": "warm"}})
    told(events, NearChecked, 3)
    searching.queries.clear()
    calls = [Call("search", {"query": QUERY}), Call("confirm", {"what": "go on?"})]
    model.script = [Turn(text="I think of the markets, and ask.", calls=calls), Turn(text="Done.")]
    config: Any = {"configurable": {"thread_id": "1"}}
    paused = graph.invoke(question(), config)
    assert "__interrupt__" in paused
    result = graph.invoke(Command(resume="yes"), config)
    assert tool_texts(result) == [searching.answer(QUERY), "confirmed: yes"]
    assert searching.queries == []
    answered = of_kind(events, SearchCallAnswered)[3:]
    assert [each.source for each in answered] == [Source.NEAR, Source.REUSE]
    assert answered[-1].reason == "resumed"


@pytest.mark.parametrize("is_served", [True, False])
def test_the_end_of_a_run_ends_its_fetches_and_frees_its_passages(is_served: bool) -> None:
    """Nothing of a run is kept, however it ended."""
    searching, words = Searching(memory()), Words()
    held: list[weakref.ref[RunNear]] = []
    graph, prefetch, events = warmed(searching, near(searching.source, words), QUERY)
    begin = prefetch.near.begin  # type: ignore[union-attr]

    def noting(session: Any) -> Any:
        made: Any = begin(session)
        held.append(weakref.ref(made))
        return made

    prefetch.near.begin = noting  # type: ignore[union-attr, method-assign]
    if is_served:
        graph.invoke(question())
    else:
        stream = graph.stream(question(), stream_mode="messages")
        next(stream)
        stream.close()
    until(lambda: of_kind(events, RunEnded))
    until(lambda: prefetch.shared.executor.running == 0)

    def freed() -> bool:
        gc.collect()
        return held[0]() is None

    until(freed)


def test_a_served_calls_run_may_say_so() -> None:
    """``mark_served``: the source is ``near``."""
    searching = Searching(memory())
    graph, _, events = warmed(searching, near(searching.source), QUERY, mark_served=True)
    marks: list[Any] = []

    class Marks(BaseCallbackHandler):
        def on_tool_start(self, *args: Any, metadata: Any = None, **kwargs: Any) -> None:
            marks.append(metadata)

    graph.invoke(question(), {"callbacks": [Marks()]})
    assert served(events) == [True]
    assert marks[0]["langgraph_prefetch.source"] == "near"


def test_reuse_does_not_keep_what_may_be_wrong() -> None:
    """A near miss answers one call; a later equal call is ranked again, in its own run."""
    searching = Searching(memory())
    graph, _, events = warmed(searching, near(searching.source), QUERY, QUERY, reuse_seconds=60.0)
    result = graph.invoke(question())
    assert tool_texts(result) == [searching.answer(QUERY)] * 2
    assert [each.source for each in of_kind(events, SearchCallAnswered)] == [Source.NEAR] * 2
    assert of_kind(events, NearFetched)
    assert prefetcher_of(graph).report().troubles == 0
