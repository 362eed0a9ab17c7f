"""Runs one graph bare and wrapped, and says where they differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig

from langgraph_prefetch import Budgets, Prefetcher, Report, with_prefetch
from tests.graph.matrix.kinds import QUESTION, Graph, World
from tests.graph.matrix.normal import Normaliser, differences
from tests.graph.matrix.styles import Recorder, Style

FORCED_ONLY = ("on_llm_new_token", "on_stream_event", "on_llm_end")
"""What a user's handler hears otherwise of a model that streams only because of prefetch: tokens, and their sum."""


@dataclass
class Observed:
    """All that one run showed.

    Attributes:
        parts: what the graph gave, in order.
        events: what the user's own callback handler heard, in order.
        hooks: what the user's own middleware saw.
        searches: what the backend was asked.
    """

    parts: list[Any]
    events: list[Any]
    hooks: list[str]
    searches: list[str]


def question() -> dict[str, Any]:
    """The input of every run. With an id, since a graph would give it a random one."""
    return {"messages": [HumanMessage(QUESTION, id="question")]}


def observe(graph: Graph, world: World, style: Style, *, left_to_chance: bool = False, state: Any = None) -> Observed:
    """Run ``graph`` in ``style``."""
    recorder = Recorder()
    config = RunnableConfig(callbacks=[recorder], configurable={"user": "ada", "thread_id": "1"}, tags=["mine"])
    before = len(world.search)
    parts = style.parts(graph, question() if state is None else state, config)
    events = [event for event in recorder.events if style.streams_anyway or event[0] not in FORCED_ONLY]
    normal = Normaliser(ordered=not left_to_chance)
    shown = [normal(part) for part in parts], [normal(event) for event in events]
    searches = world.search.queries[before:]
    if left_to_chance:
        return Observed(_sorted(shown[0]), _sorted(shown[1]), sorted(world.calls), sorted(searches))
    return Observed(*shown, world.calls, searches)


def prefetched(graph: Graph, **options: Any) -> Graph:
    """The wrapped graph. One guess a step, so that nothing is searched for which the agent does not ask for."""
    return patient(with_prefetch(graph, tools=["search"], budgets=Budgets(guesses_per_step=1), **options))


def patient(graph: Graph) -> Graph:
    """A wrapped graph that waits for a speculation however slow the machine is just now.

    It would run the tool itself after twice the time that searches take, which here is no time at all.
    """
    prefetch_of(graph)._typical.add("search", 5.0)
    return graph


def prefetch_of(graph: Graph) -> Prefetcher:
    """What a wrapped graph has to tell."""
    prefetch = graph.prefetch  # type: ignore[attr-defined]
    assert isinstance(prefetch, Prefetcher)
    return prefetch


def _sorted(values: Sequence[Any]) -> list[Any]:
    return sorted(values, key=repr)


def compare(
    build: Callable[[World], Graph],
    style: Style,
    world: Callable[[], World] = World,
    *,
    left_to_chance: bool = False,
    wrap: Callable[[Graph], Graph] = prefetched,
) -> Report:
    """Assert that a graph shows the same bare and wrapped; the wrapped one's report."""
    bare_world, wrapped_world = world(), world()
    bare = observe(build(bare_world), bare_world, style, left_to_chance=left_to_chance)
    wrapped_graph = wrap(build(wrapped_world))
    wrapped = observe(wrapped_graph, wrapped_world, style, left_to_chance=left_to_chance)
    if style.breaks_off:  # whether the search under way had begun by then is left to chance
        wrapped.searches = bare.searches = []
    for shown in ("parts", "events", "hooks", "searches"):
        found = differences(getattr(wrapped, shown), getattr(bare, shown), shown)
        assert not found, "\n".join(["wrapped and bare differ:", *found[:20]])
    report = prefetch_of(wrapped_graph).report()
    assert report.troubles == 0
    assert report.unsettled == 0
    return report
