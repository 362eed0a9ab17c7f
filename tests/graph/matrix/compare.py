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


def observe(
    graph: Graph, world: World, style: Style, *, left_to_chance: bool = False, everything: bool = False
) -> Observed:
    """Run ``graph`` in ``style``. See :func:`assert_same`."""
    recorder = Recorder()
    config = RunnableConfig(callbacks=[recorder], configurable={"user": "ada", "thread_id": "1"}, tags=["mine"])
    before = len(world.search)
    parts = style.parts(graph, question(), config)
    left_out = () if everything or style.streams_anyway else FORCED_ONLY
    events = [event for event in recorder.events if event[0] not in left_out]
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


def assert_same(
    bare: Callable[[World], Graph],
    wrapped: Callable[[World], Graph],
    style: Style,
    world: Callable[[], World] = World,
    *,
    left_to_chance: bool = False,
    backend: bool = True,
    everything: bool = False,
) -> Graph:
    """Assert that two graphs show the same in one style; the second one.

    Args:
        bare: makes the graph to compare with.
        wrapped: makes the graph that prefetches.
        style: how both are called.
        world: makes what each stands on.
        left_to_chance: the graph does things at the same time, so that only what is shown counts, not in which order.
        backend: the backend must have been asked the same.
        everything: nothing is forced to stream, so that the user's handler must hear the same of the model too.
    """
    bare_world, wrapped_world = world(), world()
    expected = observe(bare(bare_world), bare_world, style, left_to_chance=left_to_chance, everything=everything)
    graph = wrapped(wrapped_world)
    shown = observe(graph, wrapped_world, style, left_to_chance=left_to_chance, everything=everything)
    compared = ["parts", "events", "hooks"]
    if backend and not style.breaks_off:  # whether the search under way had begun by then is left to chance
        compared.append("searches")
    for each in compared:
        found = differences(getattr(shown, each), getattr(expected, each), each)
        assert not found, "\n".join(["wrapped and bare differ:", *found[:20]])
    return graph


def compare(
    build: Callable[[World], Graph],
    style: Style,
    world: Callable[[], World] = World,
    *,
    left_to_chance: bool = False,
    backend: bool = True,
    everything: bool = False,
    **options: Any,
) -> Report:
    """:func:`assert_same` for a graph and the same graph wrapped as a whole; the report."""
    graph = assert_same(
        build,
        lambda made: prefetched(build(made), **options),
        style,
        world,
        left_to_chance=left_to_chance,
        backend=backend,
        everything=everything,
    )
    report = prefetch_of(graph).report()
    assert report.troubles == 0
    assert report.unsettled == 0
    return report
