"""Prefetch settings as variants of one graph."""

import asyncio
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_prefetch import (
    ConfigurationError,
    prefetcher_of,
    variants_of,
    with_prefetch,
    with_prefetch_variants,
)
from langgraph_prefetch.errors import AlreadyWrappedError, NotAGraphError, NotWrappedError, UnknownOptionError
from langgraph_prefetch.events import Event, RunEnded, RunStarted, SpeculationStarted, VariantAssigned
from langgraph_prefetch.observe.variants import VariantRuns
from tests.graph.cases.rigs import DONE, GO, KINDS, created, drawn, model, of_kind, plain, thinks, tool_texts
from tests.graph.variants.rigs import keys_of, of_user, telling

ARMS: dict[str, Any] = {"bare": None, "usual": {}, "dry": {"dry_run": True}}


def choosing(graph: Any, name: str, **options: Any) -> Any:
    return with_prefetch_variants(graph, ["search"], name=name, key="user", **{"variants": ARMS, **options})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("style", ["sync", "async"])
async def test_each_run_has_the_settings_of_its_variant(kind: str, style: str) -> None:
    """One graph: bare, prefetched, or watched only, by the run's key; what it answers is the same."""
    search = telling("x")
    graph = choosing(KINDS[kind](model(thinks("alpha"), DONE), [search.tool]), f"{kind} {style}")
    variants = variants_of(graph)
    events: list[Event] = []
    variants.subscribe(events.append)
    for variant, served, started in (("bare", 0, 0), ("usual", 1, 1), ("dry", 0, 0)):
        (user,) = keys_of(variants.experiment, variant, 1)
        del events[:]
        if style == "async":
            said = await graph.ainvoke(GO, of_user(user))
        else:
            said = await asyncio.to_thread(graph.invoke, GO, of_user(user))
        assert tool_texts(said) == ["alpha by x"]
        assert [each.variant for each in of_kind(events, VariantAssigned)] == [variant]
        assert len(of_kind(events, RunStarted)) == len(of_kind(events, RunEnded)) == 1
        assert len(of_kind(events, SpeculationStarted)) == started
        if variant != "bare":
            assert variants.reports()[variant].served == served
    assert set(variants.reports()) == {"usual", "dry"}


async def test_all_styles_are_those_of_the_bare_graph() -> None:
    """Streams, events and state come from the graph as they would without variants."""
    bare = drawn(model(thinks("alpha"), DONE, DONE, DONE), [telling("x").tool])
    graph = choosing(bare, "styles")
    for variant in ARMS:
        (user,) = keys_of(variants_of(graph).experiment, variant, 1)
        config = of_user(user)
        for mode in ("values", "updates"):
            given = [part async for part in graph.astream(GO, config, stream_mode=mode)]
            want = [part async for part in bare.astream(GO, config, stream_mode=mode)]
            assert len(given) == len(want)
        given, want = await graph.ainvoke(GO, config), await bare.ainvoke(GO, config)
        assert plain(given["messages"]) == plain(want["messages"])
        named = [each["name"] async for each in graph.astream_events(GO, config, version="v2")]
        assert {"search", "tools", "model"} <= set(named)
    assert set(graph.nodes) == set(bare.nodes)
    assert type(graph).__name__ == type(bare).__name__


def test_a_checkpointer_set_later_and_a_thread_that_goes_on() -> None:
    """What is set on the graph after it was made holds for every variant, and with_config keeps the variants."""
    graph = choosing(created(model(thinks("alpha"), DONE, thinks("beta"), DONE), [telling("x").tool]), "threads")
    graph.checkpointer = InMemorySaver()
    graph = graph.with_config(tags=["kept"])
    (user,) = keys_of(variants_of(graph).experiment, "usual", 1)
    config = of_user(user, thread_id="1")
    graph.invoke(GO, config)
    assert tool_texts(graph.invoke(GO, config)) == ["alpha by x", "beta by x"]
    assert len(graph.get_state(config).values["messages"]) == 8


def test_results_do_not_cross_settings() -> None:
    """Two variants that share results in one scope do not share them with each other."""
    search = telling("x")
    shared: dict[str, Any] = {
        "scope": lambda _: "cross settings",
        "reuse_seconds": 60.0,
        "ignore_configurable": ("user",),
    }
    arms: Any = {"one": shared, "two": {**shared, "threshold": 0.4}}
    graph = choosing(created(model(thinks("alpha"), DONE), [search.tool]), "cross", variants=arms)
    users = {each: keys_of(variants_of(graph).experiment, each, 2) for each in arms}
    for number in range(2):
        for each in arms:
            graph.invoke(GO, of_user(users[each][number]))
    assert len(search) == 2
    assert {name: report.served_reuse for name, report in variants_of(graph).reports().items()} == {"one": 1, "two": 1}


def test_settings_swapped_live() -> None:
    """New settings, new weights: for the runs that begin from then on, with everybody who listens still listening."""
    graph = choosing(created(model(thinks("alpha"), DONE), [telling("x").tool]), "live")
    variants = variants_of(graph)
    runs = VariantRuns("live")
    variants.subscribe(runs)
    (user,) = keys_of(variants.experiment, "bare", 1)
    graph.invoke(GO, of_user(user))
    variants.swap({"bare": {}})
    graph.invoke(GO, of_user(user))
    variants.swap(weights={"usual": 1.0})
    graph.invoke(GO, of_user(user))
    assert [(each.variant, each.served) for each in runs.runs] == [("bare", 0), ("bare", 1), ("usual", 1)]
    typo: Any = {"treshold": 0.3}
    with pytest.raises(UnknownOptionError):
        variants.swap({"usual": typo})
    assert list(variants.experiment.weights) == ["usual"]


def test_pause_and_resume() -> None:
    """Paused, nothing is started and nothing counted, in no variant."""
    graph = choosing(created(model(thinks("alpha"), DONE), [telling("x").tool]), "paused")
    variants = variants_of(graph)
    runs = VariantRuns("paused")
    variants.subscribe(runs)
    users = [keys_of(variants.experiment, each, 1)[0] for each in ARMS]
    variants.pause()
    for user in users:
        graph.invoke(GO, of_user(user))
    assert not runs.runs
    variants.resume()
    for user in users:
        graph.invoke(GO, of_user(user))
    assert [run.variant for run in runs.runs] == list(ARMS)
    variants.close()


@pytest.mark.parametrize("variants", [ARMS, {"bare": None, "bare too": None}])
def test_what_cannot_be_wrapped(variants: dict[str, Any]) -> None:
    """It is refused at once, also where every variant leaves the graph as it is."""
    graph = choosing(created(model(DONE), [telling("x").tool]), "wrapped")
    with pytest.raises(AlreadyWrappedError):
        with_prefetch_variants(graph, ["search"], name="again", variants=variants)
    with pytest.raises(NotAGraphError):
        with_prefetch_variants("a graph", ["search"], name="none", variants=variants)  # type: ignore[type-var]


def test_wrong_use() -> None:
    """What cannot work says so before a run."""
    bare = created(model(DONE), [telling("x").tool])
    graph = choosing(bare, "wrong")
    with pytest.raises(AlreadyWrappedError):
        choosing(graph, "again")
    with pytest.raises(AlreadyWrappedError):
        with_prefetch(graph, ["search"])
    with pytest.raises(ConfigurationError, match=r"variants_of\(graph\).prefetchers"):
        prefetcher_of(graph)
    with pytest.raises(NotWrappedError):
        variants_of(with_prefetch(bare, ["search"]))
    with pytest.raises(ConfigurationError, match="settings by name"):
        choosing(bare, "none", variants={})
    with pytest.raises(UnknownOptionError):
        choosing(bare, "typo", variants={"a": {"treshold": 0.3}})
