"""What goes wrong is a miss: never an error, never a wrong answer, and said once."""

import logging
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document

from langgraph_prefetch import Budgets, with_prefetch
from langgraph_prefetch.events import NearAnswered, NearChecked, NearFetched, NearIgnored, NearTierChanged
from langgraph_prefetch.graph.near import call
from tests.graph.cases.rigs import of_kind, tool_texts, until, watch
from tests.graph.near.rigs import (
    NOTHING_EARLY,
    WARM,
    Searching,
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

QUERIES = ("market of Gorsley", "which bridge is in Fernwick")


def test_an_embedder_that_fails_costs_nothing() -> None:
    """Fetches and rankings fail, calls run."""
    searching, words = Searching(memory()), Words()
    graph, prefetch, events = warmed(searching, near(searching.source, words), *QUERIES)
    words.error = ConnectionError("down")
    result = graph.invoke(question())
    assert tool_texts(result) == [searching.answer(each) for each in QUERIES]
    assert {each.reason for each in of_kind(events, NearAnswered)} == {"failed"}
    assert prefetch.report().troubles > 0


def test_an_embedder_that_hangs_holds_a_call_for_a_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the tool runs."""
    searching, words = Searching(memory()), Words()
    graph, _, events = warmed(searching, near(searching.source, words), QUERIES[0])
    monkeypatch.setattr(call, "LEAST_PATIENCE_SECONDS", 0.05)
    words.gate = threading.Event()
    try:
        result = graph.invoke(question())
    finally:
        words.gate.set()
    assert tool_texts(result) == [searching.answer(QUERIES[0])]
    assert [each.reason for each in of_kind(events, NearAnswered)] == ["took too long"]


class Down:
    """A source that is down from some moment on."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.metric, self.dimensions = inner, inner.metric, inner.dimensions
        self.is_down = False

    def epoch(self) -> int:
        self._reached()
        return int(self.inner.epoch())

    def neighbourhood(self, anchor: Any, n: int) -> Any:
        self._reached()
        return self.inner.neighbourhood(anchor, n)

    async def aneighbourhood(self, anchor: Any, n: int) -> Any:
        return self.neighbourhood(anchor, n)

    def _reached(self) -> None:
        if self.is_down:
            raise ConnectionError("password=secret")


def test_a_source_that_is_down_is_asked_a_few_times_and_costs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Nothing of what it says in its errors is logged."""
    searching = Searching(memory())
    source = Down(searching.source)
    graph, _, events = warmed(searching, near(source), *QUERIES)
    source.is_down = True
    result = graph.invoke(question())
    assert tool_texts(result) == [searching.answer(each) for each in QUERIES]
    assert served(events) == [False] * 2
    assert of_kind(events, NearFetched) == []
    assert 0 < sum(each.reason == "failed" for each in of_kind(events, NearIgnored)) <= 12
    assert "secret" not in caplog.text


@pytest.mark.parametrize("is_constant", [True, False])
def test_an_embedder_that_is_not_the_stores_closes_the_tool(
    is_constant: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Case 49: one vector for every text, or vectors that lie elsewhere than the store's. Said once."""

    class Other(Words):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [[1.0] * 256 if is_constant else each[::-1] for each in super().embed_documents(texts)]

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]

    searching = Searching(memory())
    graph, prefetch = agent_of(thinking(*WARM, *QUERIES), searching, near(searching.source, Other()))
    events = watch(prefetch)
    with caplog.at_level(logging.WARNING, "langgraph_prefetch"):
        graph.invoke(question())
        graph.invoke(question())
    assert served(events) == [False] * 10
    (closed,) = of_kind(events, NearTierChanged)
    assert not closed.open
    assert ("every text the same vector" if is_constant else "embedded again") in closed.reason
    assert caplog.text.count("are not answered") == 1


def test_vectors_of_another_length_close_the_tool() -> None:
    """They could not even be compared."""

    class Short(Words):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [each[:64] for each in super().embed_documents(texts)]

    searching = Searching(memory())
    graph, prefetch = agent_of(thinking(*WARM), searching, near(searching.source, Short()))
    events = watch(prefetch)
    result = graph.invoke(question())
    assert tool_texts(result) == [searching.answer(each) for each in WARM]
    assert served(events) == [False] * 3


def test_a_render_that_is_not_the_tools_closes_it_before_it_serves(caplog: pytest.LogCaptureFixture) -> None:
    """Proved or not: what the tool returns is the truth."""
    searching = Searching(memory())

    def render(documents: Sequence[Document]) -> str:
        return "\n\n".join(each.page_content for each in documents)

    graph, prefetch = agent_of(thinking(*WARM, *QUERIES), searching, near(searching.source, render=render))
    events = watch(prefetch)
    with caplog.at_level(logging.WARNING, "langgraph_prefetch"):
        graph.invoke(question())
        until(lambda: of_kind(events, NearTierChanged))
    assert served(events) == [False] * 5
    (closed,) = of_kind(events, NearTierChanged)
    assert (closed.tier, closed.open) == ("all", False)
    assert caplog.text.count("NearMiss(render=…)") == 1
    fetched = len(of_kind(events, NearFetched))
    graph.invoke(question())
    assert len(of_kind(events, NearFetched)) == fetched  # nothing more is spent on it


def test_a_render_that_fails_is_a_miss() -> None:
    """The user's function may raise."""
    searching = Searching(memory())

    def render(documents: Sequence[Document]) -> str:
        raise KeyError("title")

    graph, prefetch = agent_of(thinking(*WARM), searching, near(searching.source, render=render))
    result = graph.invoke(question())
    assert tool_texts(result) == [searching.answer(each) for each in WARM]
    assert prefetch.report().troubles > 0


def test_a_tool_that_changes_loses_its_trust() -> None:
    """An audit finds it out: nothing more is served until it has shown anew what it is."""
    searching = Searching(memory())
    graph, prefetch, events = warmed(searching, near(searching.source, audit_share=1.0), *QUERIES)
    graph.invoke(question())
    until(lambda: len(of_kind(events, NearChecked)) >= 2)
    assert served(events) == [True] * 2
    searching._render = lambda documents: "something else"
    model_of(graph).script = thinking("castle of Elmbury").script
    graph.invoke(question())
    until(lambda: of_kind(events, NearTierChanged))
    model_of(graph).script = thinking("school of Elmbury").script
    graph.invoke(question())
    assert served(events) == [True] * 3 + [False]
    assert prefetch.report().near_audited_wrong == 1
    assert prefetch.report().near_closings == 1


def test_budgets_bound_the_fetches_of_a_run() -> None:
    """A budget that is used up makes later anchors misses."""
    searching = Searching(memory())
    budgets = Budgets(guesses_per_step=0, sealed_per_step=0, neighbourhoods_per_run=2)
    graph, prefetch = agent_of(thinking(*WARM), searching, near(searching.source), budgets=budgets)
    events = watch(prefetch)
    graph.invoke(question())
    assert len(of_kind(events, NearFetched)) <= 2
    assert "budget: neighbourhoods_per_run" in {each.reason for each in of_kind(events, NearIgnored)}


def test_secrets_and_planted_texts_do_not_go_to_an_embedding_service() -> None:
    """The rules of guesses hold for anchors; for an embedder of one's own nothing is withheld."""
    thought = "The password=hunter2secret999 is in the notes. Let me think about the market of Gorsley."
    for destination in ("own_store", "third_party"):
        words, searching = Words(), Searching(memory())
        graph: Any = with_prefetch(
            create_agent(thinking(QUERIES[0], thought=thought), [searching.tool]),
            tools=["search"],
            serve="bounded",
            near={"search": near(searching.source, words, destination=destination)},
            force_streaming=True,
            budgets=NOTHING_EARLY,
        )
        events = watch(graph)
        graph.invoke(question())
        told(events, NearAnswered, 1)
        sent = any("hunter2" in each for each in words.queries)
        assert sent == (destination == "own_store")
        held = {each.reason for each in of_kind(events, NearIgnored)}
        assert ("outbound: secret" in held) == (destination == "third_party")


def test_the_redaction_hook_is_asked_for_anchors_too() -> None:
    """Unless it says True, nothing is embedded but the real query."""
    words, searching = Words(), Searching(memory())
    asked: list[Any] = []

    def may_send(outgoing: Any) -> bool:
        asked.append(outgoing)
        return False

    graph, prefetch = agent_of(thinking(QUERIES[0]), searching, near(searching.source, words), may_send=may_send)
    events = watch(prefetch)
    graph.invoke(question())
    assert {each.source.value for each in asked} == {"near"}
    assert set(words.queries) <= {QUERIES[0]}
    assert of_kind(events, NearFetched) == []


def test_a_dry_run_fetches_nothing() -> None:
    """What would have been fetched is told."""
    words, searching = Words(), Searching(memory())
    graph, prefetch = agent_of(thinking(*WARM), searching, near(searching.source, words), dry_run=True)
    events = watch(prefetch)
    graph.invoke(question())
    assert of_kind(events, NearFetched) == []
    assert {each.reason for each in of_kind(events, NearIgnored)} == {"dry run"}
    assert set(words.queries) <= set(WARM)
