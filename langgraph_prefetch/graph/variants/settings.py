"""Prefetch settings as variants: one graph whose runs are each prefetched in one of several ways, or not at all."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing
from functools import cache
from typing import Any, TypeVar, cast

from langgraph.pregel import Pregel

from langgraph_prefetch.errors import NotWrappedError
from langgraph_prefetch.experiments import Key
from langgraph_prefetch.graph.caller import ambient_config, user_configurable
from langgraph_prefetch.graph.front import Named, Prefetcher
from langgraph_prefetch.graph.variants.arms import Arm, PrefetchVariants, Settings, experiment_of
from langgraph_prefetch.graph.wrap import (
    AnyGraph,
    WrappedGraph,
    bare,
    check_wrappable,
    listening,
    with_class,
    with_prefetch,
)
from langgraph_prefetch.intent.cues import CueSet

Graph = TypeVar("Graph", bound=Pregel[Any, Any, Any, Any])


def with_prefetch_variants(
    graph: Graph,
    tools: Sequence[Named],
    *,
    name: str,
    variants: Mapping[str, Settings],
    key: Key = "thread_id",
    weights: Mapping[str, float] | None = None,
    default: str | None = None,
    cues: CueSet | None = None,
) -> Graph:
    """The same graph, each of whose runs is prefetched with the settings of one variant.

    ::

        agent = with_prefetch_variants(
            agent, ["search"], name="eager", key="user_id",
            variants={"bare": None, "usual": {}, "eager": {"threshold": 0.4}},
        )

    A run's variant is told by its trusted ``configurable`` values, before anything of it runs, and no result crosses
    variants.

    Args:
        graph: a compiled graph, as for :func:`~langgraph_prefetch.graph.wrap.with_prefetch`.
        tools: names or policies, as there.
        name: of the experiment; the same name deals out the same keys alike.
        variants: settings by name; None leaves runs as they are.
        key: as for :class:`~langgraph_prefetch.graph.variants.chooser.Variants`.
        weights: as there.
        default: as there.
        cues: the language of intent, of all variants.

    Returns:
        An instance of a subclass of the graph's own class; its ``prefetch`` is a :class:`PrefetchVariants`.

    Raises:
        NotAGraphError, NoToolNodeError, UnknownToolError, AlreadyWrappedError, UnknownOptionError,
        ConfigurationError: the message says what to do.
    """
    check_wrappable(graph)
    experiment = experiment_of(name, variants, key, weights, default)

    def make(settings: Settings) -> Arm:
        if settings is None:
            return Arm(None)
        wrapped: Any = with_prefetch(graph, tools, cues=cues, **settings)
        return Arm(wrapped.prefetch, wrapped.nodes)

    return cast("Graph", _choosing(graph, PrefetchVariants(experiment, variants, make)))


def variants_of(graph: AnyGraph) -> PrefetchVariants:
    """The variants of a graph: ``graph.prefetch``, in a form that type checkers know.

    Raises:
        NotWrappedError: a graph that ``with_prefetch_variants`` has not made.
    """
    if not isinstance(graph, _Choosing):
        raise NotWrappedError(graph)
    return graph.prefetch


class _Choosing(WrappedGraph):
    """What the graph's class adds to the graph's own."""

    prefetch: PrefetchVariants

    def stream(self, input: Any, config: Any = None, **kwargs: Any) -> Iterator[Any]:  # noqa: A002 - the host's name
        arm, assignment = self.prefetch.arm_for(_trusted(self, config))
        if arm.prefetch is not None:
            yield from _of_arm(self, arm).stream(input, config, **kwargs)
            return
        with self.prefetch.counted(assignment, muted=_muted(kwargs)):
            yield from bare(self).stream(input, config, **kwargs)

    async def astream(
        self,
        input: Any,  # noqa: A002 - the host's name
        config: Any = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        arm, assignment = self.prefetch.arm_for(_trusted(self, config))
        if arm.prefetch is not None:
            async with aclosing(cast("Any", _of_arm(self, arm).astream(input, config, **kwargs))) as parts:
                async for part in parts:
                    yield part
            return
        with self.prefetch.counted(assignment, muted=_muted(kwargs)):
            async with aclosing(cast("Any", bare(self).astream(input, config, **kwargs))) as parts:
                async for part in parts:
                    yield part

    def copy(self, update: dict[str, Any] | None = None) -> Any:
        return _choosing(bare(self).copy(update), self.prefetch)


def _of_arm(graph: Any, arm: Arm) -> AnyGraph:
    # Made anew for each run, so that what was set on the graph since then (a checkpointer, a store) holds.
    of = bare(graph)
    of.nodes = dict(arm.made)
    return listening(of, cast("Prefetcher", arm.prefetch))


def _trusted(graph: Any, config: Any) -> dict[str, Any]:
    in_force = [ambient_config(), graph.config, config]
    return {name: value for each in in_force for name, value in user_configurable(each).items()}


def _muted(kwargs: Mapping[str, Any]) -> bool:
    return bool(kwargs.get("interrupt_before") or kwargs.get("interrupt_after"))


@cache
def _choosing_class(of: type[AnyGraph]) -> type[AnyGraph]:
    return type(of.__name__, (_Choosing, of), {"__module__": of.__module__, "__qualname__": of.__qualname__})


def _choosing(graph: AnyGraph, prefetch: PrefetchVariants) -> AnyGraph:
    return with_class(_choosing_class(type(graph)), {**graph.__dict__, "prefetch": prefetch})
