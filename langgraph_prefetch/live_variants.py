"""Components that stand in for one another, and what one run was given of each.

A run keeps what it began with: :func:`pin` takes down every experiment there is, and the run's speculations and calls
see that, whatever is swapped meanwhile. What it was given is part of the key of its results, so no call of one variant
is answered with a result of another.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.experiments import Assignment, Experiment
from langgraph_prefetch.keys import Encoded
from langgraph_prefetch.locks import ForkSafeLock

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Table(Generic[T]):
    """The variants at one moment. ``versions`` counts how often each has been replaced."""

    experiment: Experiment
    components: Mapping[str, T]
    versions: Mapping[str, int]


class LiveVariants(Generic[T]):
    """The variants of one component, which may be swapped while runs go on.

    Args:
        experiment: who gets which.
        components: each variant's, by name: those that the experiment's weights name.
        separate: whether results are kept apart by variant; False only for what cannot change a tool's result.

    Raises:
        ConfigurationError: other names than the experiment's.
    """

    def __init__(self, experiment: Experiment, components: Mapping[str, T], *, separate: bool = True) -> None:
        self.separate = separate
        self._lock = ForkSafeLock()
        _require_same(experiment, components)
        self._table = Table(experiment, MappingProxyType(dict(components)), dict.fromkeys(components, 0))
        with _registering:
            _live.add(self)

    @property
    def table(self) -> Table[T]:
        """As things stand."""
        return self._table

    def swap(
        self, components: Mapping[str, T] | None = None, *, weights: Mapping[str, float] | None = None
    ) -> Table[T]:
        """Replace components, or weights, or both, at once. Runs that have begun keep what they began with.

        A name that is new joins with the weight given for it; one without a weight leaves. Returns the new table.

        Raises:
            ConfigurationError: a weight without a component, or weights that are none.
        """
        with self._lock:
            now = self._table
            held = {**now.components, **(components or {})}
            dealt = dict(now.experiment.weights if weights is None else weights)
            held = {name: held[name] for name in dealt if name in held}
            experiment = replace(now.experiment, weights=MappingProxyType(dealt))
            _require_same(experiment, held)
            before = now.versions
            versions = {
                name: before.get(name, 0) + (name in now.components and now.components[name] is not each)
                for name, each in held.items()
            }
            # A name that comes back must not be taken for what it was when it left.
            versions |= {name: before[name] + (name in now.components) for name in before if name not in held}
            self._table = Table(experiment, MappingProxyType(held), versions)
            with _registering:
                _live.add(self)
            return self._table

    def conclude(self, variant: str) -> None:
        """Give every run this variant from now on; there is nothing to compare any more until the next swap.

        Raises:
            ConfigurationError: no variant of that name.
        """
        self.swap(weights={variant: 1.0})
        with _registering:
            _live.discard(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """What one run was given. ``key`` tells it from runs that were given something else."""

    given: Mapping[LiveVariants[Any], tuple[Table[Any], Assignment]] = field(default_factory=dict)
    key: Encoded = ()

    @property
    def assignments(self) -> tuple[Assignment, ...]:
        """Of every experiment, by name; of equal ones the first."""
        named = {assignment.experiment: assignment for _, assignment in reversed(list(self.given.values()))}
        return tuple(named[name] for name in sorted(named))


NOTHING = Pinned()

pinned: ContextVar[Pinned | None] = ContextVar("langgraph_prefetch_pinned", default=None)
"""What the run in whose name the present code runs was given: set around speculations and real calls."""

_registering = ForkSafeLock()
_live: weakref.WeakSet[LiveVariants[Any]] = weakref.WeakSet()


def pin(configurable: Mapping[str, object], fixed: tuple[LiveVariants[Any], str] | None = None) -> Pinned:
    """What a run with these trusted values is given. ``fixed``: what it has been given already."""
    if not _live:
        return NOTHING
    with _registering:
        live = sorted(_live, key=lambda each: each.table.experiment.name)
    given: dict[LiveVariants[Any], tuple[Table[Any], Assignment]] = {}
    parts = []
    for each in live:
        table = each.table
        assignment = table.experiment.assign(configurable)
        if fixed is not None and fixed[0] is each:
            assignment = replace(assignment, variant=fixed[1])
        given[each] = table, assignment
        if each.separate:
            version = table.versions.get(assignment.variant, 0)
            parts.append((assignment.experiment, assignment.variant, version))
    return Pinned(given=MappingProxyType(given), key=tuple(parts))


def _require_same(experiment: Experiment, components: Mapping[str, Any]) -> None:
    if set(experiment.weights) != set(components):
        raise ConfigurationError(
            f"experiment {experiment.name!r} has weights for {', '.join(experiment.weights) or 'nothing'} and "
            f"components for {', '.join(components) or 'nothing'}: name the same variants in both"
        )
