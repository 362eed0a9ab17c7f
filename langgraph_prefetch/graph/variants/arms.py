"""The prefetchers of the variants of one agent, kept apart."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.events import EventHub, EventSink, RunEnded, RunStarted
from langgraph_prefetch.experiments import Assignment, Experiment, Key
from langgraph_prefetch.graph.front import Prefetcher
from langgraph_prefetch.live_variants import LiveVariants
from langgraph_prefetch.option_types import OptionTypes
from langgraph_prefetch.prefetcher.engine import assigned
from langgraph_prefetch.report import Report
from langgraph_prefetch.speculation.shared import process_wide

Settings = OptionTypes | None
"""Options of :func:`~langgraph_prefetch.graph.wrap.with_prefetch`; None: the run is left as it is."""

_bare_runs = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Arm:
    """One way of running an agent: its prefetcher, and what a way in made of the agent; neither where it runs bare."""

    prefetch: Prefetcher | None
    made: Any = None


class PrefetchVariants:
    """The prefetchers of an agent whose runs are each prefetched with the settings of one variant.

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
    def arms(self) -> Mapping[str, Arm]:
        """Each variant's way of running, as things stand."""
        return self._live.table.components

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


def experiment_of(
    name: str, variants: Mapping[str, Any], key: Key, weights: Mapping[str, float] | None, default: str | None
) -> Experiment:
    """The experiment that deals out these variants, evenly without weights.

    Raises:
        ConfigurationError: no variants, weights that are none, an unknown default.
    """
    if not isinstance(variants, Mapping) or not variants:
        raise ConfigurationError("variants takes settings by name: variants={'bare': None, 'usual': {}}")
    shares = dict.fromkeys(variants, 1.0) if weights is None else dict(weights)
    return Experiment(name=name, weights=shares, key=key, default=default)
