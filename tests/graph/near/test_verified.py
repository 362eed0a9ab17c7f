"""Under verified serving a near miss starts the next model call; the graph sees the real result only."""

import threading
from typing import Any

from langchain.agents import create_agent

from langgraph_prefetch import NextCalls, PrefetchMiddleware
from langgraph_prefetch.events import NearAnswered, NextCallStarted
from tests.graph.cases.rigs import of_kind, plain, tool_texts, until, watch
from tests.graph.near.rigs import NOTHING_EARLY, WARM, Searching, Switching, memory, near, question, served, thinking

QUERIES = (*WARM, "market of Gorsley")


def made(searching: Searching, said: Any, model: Any) -> Any:
    early = PrefetchMiddleware(
        ["search"],
        serve="verified",
        near={"search": said},
        next_calls=NextCalls(max_wasted_share=1.0),
        force_streaming=True,
        budgets=NOTHING_EARLY,
    )
    early.prefetch._typical.add("search", 5.0)  # worth running beside
    return create_agent(model, [searching.tool], middleware=[early]), early.prefetch


class Slow(Searching):
    """A search that waits until the next model call has been started on its guess."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.guessed = threading.Semaphore(0)

    def answer(self, query: str, k: int = 3) -> Any:
        self.guessed.acquire(timeout=30)
        return super().answer(query, k)


def test_a_near_miss_is_guessed_and_the_next_call_adopted() -> None:
    """No search is skipped, and nothing differs from the bare run."""
    searching = Slow(memory())
    graph, prefetch = made(searching, near(searching.source), Switching(script=thinking(*QUERIES).script))
    events = watch(prefetch)
    prefetch.subscribe(lambda event: searching.guessed.release() if isinstance(event, NextCallStarted) else None)
    result = graph.invoke(question())
    assert searching.queries == list(QUERIES)
    assert served(events) == [False] * 4
    assert {each.guesses for each in of_kind(events, NextCallStarted)} == {"near"}
    until(lambda: prefetch.report().next_calls_unsettled == 0)
    report = prefetch.report()
    assert (report.next_calls_adopted, report.next_calls_cancelled, report.troubles) == (4, 0, 0)
    for _ in range(4):
        searching.guessed.release()
    bare = create_agent(thinking(*QUERIES), [searching.tool]).invoke(question())
    assert plain(result["messages"]) == plain(bare["messages"])


def test_a_guess_that_was_wrong_is_never_seen() -> None:
    """What is said to be the tool's rendering is not: the private call is cancelled, the real result stands."""
    searching = Slow(memory())
    said = near(searching.source, render=lambda documents: "a guess")
    graph, prefetch = made(searching, said, Switching(script=thinking("market of Gorsley").script))
    prefetch.subscribe(lambda event: searching.guessed.release() if isinstance(event, NextCallStarted) else None)
    events = watch(prefetch)
    result = graph.invoke(question())
    searching.guessed.release()
    assert tool_texts(result) == [searching.answer("market of Gorsley")]
    assert [each.reason for each in of_kind(events, NearAnswered)] == ["not yet trusted"]
    until(lambda: prefetch.report().next_calls_unsettled == 0)
    assert (prefetch.report().next_calls_adopted, prefetch.report().next_calls_cancelled) == (0, 1)
