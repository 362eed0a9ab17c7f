"""Prefetch settings as variants: one graph whose runs are each prefetched in one of several ways, or not at all."""

from __future__ import annotations

import itertools
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar, cast

from langgraph.pregel import Pregel

from langgraph_prefetch.errors import AlreadyWrappedError, ConfigurationError, NotAGraphError, NotWrappedError
from langgraph_prefetch.events import EventHub, EventSink, RunEnded, RunStarted
from langgraph_prefetch.experiments import Assignment, Experiment, Key
from langgraph_prefetch.graph.caller import ambient_config, user_configurable
from langgraph_prefetch.graph.front import Named, Prefetcher
from langgraph_prefetch.graph.wrap import AnyGraph, WrappedGraph, bare, listening, with_class, with_prefetch
from langgraph_prefetch.intent.cues import CueSet
from langgraph_prefetch.live_variants import LiveVariants
from langgraph_prefetch.option_types import OptionTypes
from langgraph_prefetch.prefetcher.engine import assigned
from langgraph_prefetch.report import Report
from langgraph_prefetch.speculation.shared import process_wide

Graph = TypeVar("Graph", bound=Pregel[Any, Any, Any, Any])
Settings = OptionTypes | None
"""Options of :func:`~langgraph_prefetch.graph.wrap.with_prefetch`; None: the run is left as it is."""

_bare_runs = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Arm:
    """One way of running the graph; without ``prefetch`` as it is, with its own nodes."""

    prefetch: Prefetcher | None
    nodes: Mapping[str, Any] | None


class PrefetchVariants:
    """What :func:`with_prefetch_variants` adds to a graph: its ``prefetch``.

    Each variant has a prefetcher of its own, with its own report. Executor, budgets of scope and process, and the rates
    of tools are shared by all of them, as they are by all prefetchers of a process.
    """

    def __init__(
        self, experiment: Experiment, variants: Mapping[str, Settings], make: Callable[[Settings], Arm]
    ) -> None:
        self.events = EventHub()
        self._make = make
        self._paused = False
        arms = {name: make(settings) for name, settings in variants.items()}
        self._live = LiveVariants(experiment, arms)
        self._adopt(arms)

    @property
    def experiment(self) -> Experiment:
        """Who gets which, as things stand."""
        return self._live.table.experiment

    @property
    def prefetchers(self) -> Mapping[str, Prefetcher]:
        """The prefetcher of each variant that has one, by name, as things stand."""
        arms = self._live.table.components
        return {name: arm.prefetch for name, arm in arms.items() if arm.prefetch is not None}

    def reports(self) -> Mapping[str, Report]:
        """What happened so far, of each variant that prefetches."""
        return {name: each.report() for name, each in self.prefetchers.items()}

    def subscribe(self, sink: EventSink) -> Callable[[], None]:
        """Send every event of every variant to ``sink``; the returned function stops that.

        A run that is not prefetched has three: that it started, its variant, and that it ended.
        """
        return self.events.subscribe(sink)

    def swap(
        self, variants: Mapping[str, Settings] | None = None, *, weights: Mapping[str, float] | None = None
    ) -> None:
        """Replace settings, weights or both, for the runs that begin from now on. Reports of replaced settings end.

        Raises:
            UnknownOptionError, ConfigurationError: settings or weights that are none; nothing is changed then.
        """
        arms = {name: self._make(settings) for name, settings in (variants or {}).items()}
        if self._paused:
            for arm in arms.values():
                if arm.prefetch is not None:
                    arm.prefetch.pause()
        # Before the first run can be given one of them.
        self._adopt(arms)
        self._live.swap(arms, weights=weights)

    def conclude(self, variant: str) -> None:
        """End the experiment: every run from now on gets this variant.

        Raises:
            ConfigurationError: no variant of that name.
        """
        self._live.conclude(variant)

    def pause(self) -> None:
        """The kill switch of all variants: every run is left as it is, and none is counted."""
        self._paused = True
        for each in self.prefetchers.values():
            each.pause()

    def resume(self) -> None:
        """Go on."""
        self._paused = False
        for each in self.prefetchers.values():
            each.resume()

    def close(self) -> None:
        """End every run that is still listened to. Idempotent."""
        for each in self.prefetchers.values():
            each.close()

    def arm_for(self, configurable: Mapping[str, Any]) -> tuple[Arm, Assignment]:
        """How a run with these trusted values runs."""
        table = self._live.table
        assignment = table.experiment.assign(configurable)
        return table.components[assignment.variant], assignment

    @contextmanager
    def counted(self, assignment: Assignment, *, muted: bool) -> Iterator[None]:
        """Around a run that is not prefetched, so that it can be compared with those that are."""
        if muted or self._paused:
            yield
            return
        run_id, clock = f"{os.getpid():x}-bare-{next(_bare_runs)}", process_wide().clock
        self.events(RunStarted(run_id=run_id, at=clock()))
        self.events(assigned(assignment, run_id, clock()))
        try:
            yield
        finally:
            self.events(RunEnded(run_id=run_id, at=clock(), idle=False))

    def _adopt(self, arms: Mapping[str, Arm]) -> None:
        for name, arm in arms.items():
            if arm.prefetch is not None:
                arm.prefetch.variant = (self._live, name)
                arm.prefetch.subscribe(self.events)


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
    if not isinstance(graph, Pregel):
        raise NotAGraphError(graph)
    if isinstance(graph, WrappedGraph):
        raise AlreadyWrappedError
    if not isinstance(variants, Mapping) or not variants:
        raise ConfigurationError("variants takes settings by name: variants={'bare': None, 'usual': {}}")
    shares = dict.fromkeys(variants, 1.0) if weights is None else dict(weights)

    def make(settings: Settings) -> Arm:
        if settings is None:
            return Arm(None, None)
        wrapped: Any = with_prefetch(graph, tools, cues=cues, **settings)
        return Arm(wrapped.prefetch, wrapped.nodes)

    experiment = Experiment(name=name, weights=shares, key=key, default=default)
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
    of.nodes = dict(arm.nodes or {})
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
