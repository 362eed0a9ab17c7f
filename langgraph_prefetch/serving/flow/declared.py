"""What is known of a stage without measuring it: what it occupies, and what must be kept to when it is multiplied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, TypeVar

from langgraph_prefetch.errors import FlowError
from langgraph_prefetch.serving.flow.values import Placement, ServiceTime, Stage

DEFAULT_RESOURCES: Mapping[str, float] = {"cpu": 1}
_MARK = "__prefetch_stage__"
_AROUND = ("func", "afunc", "bound", "__wrapped__", "__func__")
MAX_WRAPPERS = 8

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class StageConstraints:
    """What one says of a stage.

    Attributes:
        resources: what one replica occupies, such as ``{"cpu": 2, "gpu": 0.5}``; None: one cpu, and the flow says so.
        stateful: a request returns to the instance that served it first.
        min_instances: never fewer.
        concurrency: visits that one instance serves at once.
        cold_start_seconds: from asking for an instance to its first visit; None: taken from the first visit, if that
            stands out.
        price_per_visit: what one visit costs beside its resources.
        service_seconds: of one visit, where there are no measurements; measured times come first.
        placements: other kinds of replica that can serve it.

    Raises:
        FlowError: a value out of its range.
    """

    resources: Mapping[str, float] | None = field(default=None, hash=False)
    stateful: bool = False
    min_instances: int = 1
    concurrency: int = 1
    cold_start_seconds: float | None = None
    price_per_visit: float = 0.0
    service_seconds: float | None = None
    placements: tuple[Placement, ...] = ()

    def __post_init__(self) -> None:
        amounts = dict(self.resources or {})
        for each in self.placements:
            amounts |= {f"{each.name} {name}": amount for name, amount in each.resources.items()}
        for name, amount in amounts.items():
            if not (isfinite(amount) and amount > 0):
                raise FlowError(f"a replica occupies {amount} of {name!r}: give an amount above 0, or leave it out")
        if self.min_instances < 0 or self.concurrency < 1:
            raise FlowError("min_instances starts at 0 and concurrency at 1")
        numbers = (self.cold_start_seconds, self.price_per_visit, self.service_seconds)
        if not all(each is None or (isfinite(each) and each >= 0) for each in numbers):
            raise FlowError("cold_start_seconds, price_per_visit and service_seconds start at 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A function or class that is a stage; of a class, each replica has an instance of its own."""

    name: str
    constraints: StageConstraints


def stage(
    *,
    name: str | None = None,
    resources: Mapping[str, float] | None = None,
    stateful: bool = False,
    min_instances: int = 1,
    concurrency: int = 1,
    cold_start_seconds: float | None = None,
    price_per_visit: float = 0.0,
    service_seconds: float | None = None,
    placements: tuple[Placement, ...] = (),
) -> Callable[[T], T]:
    """Say of a function or class that it is a stage, and what a plan must keep to. The function stays what it is.

    On a node's function `Flow.from_graph` finds it by itself. The arguments are those of `StageConstraints`.

    Raises:
        FlowError: a value out of its range, or something that cannot be marked.
    """
    constraints = StageConstraints(
        resources=resources,
        stateful=stateful,
        min_instances=min_instances,
        concurrency=concurrency,
        cold_start_seconds=cold_start_seconds,
        price_per_visit=price_per_visit,
        service_seconds=service_seconds,
        placements=placements,
    )

    def mark(target: T) -> T:
        named = name or getattr(target, "__name__", None)
        if not isinstance(named, str):
            raise FlowError(f"a {type(target).__name__} has no name of its own: @stage(name=…)")
        try:
            setattr(target, _MARK, Declared(name=named, constraints=constraints))
        except (AttributeError, TypeError):
            raise FlowError(f"a {type(target).__name__} cannot be marked as a stage; wrap it in a function") from None
        return target

    return mark


def declared(target: Any) -> Declared | None:
    """What `stage` said of a function, class, method, or of what a graph made of it; None: nothing."""
    for _ in range(MAX_WRAPPERS):
        found = getattr(target, _MARK, None)
        if isinstance(found, Declared):
            return found
        inner = next((each for name in _AROUND if (each := getattr(target, name, None)) is not None), None)
        if inner is None:
            return None
        target = inner
    return None


def planned_stage(name: str, constraints: StageConstraints | None = None, service: ServiceTime | None = None) -> Stage:
    """A stage of that name under these constraints."""
    given = constraints or StageConstraints()
    if service is None and given.service_seconds is not None:
        service = ServiceTime(mean=given.service_seconds)
    return Stage(
        name=name,
        resources=dict(DEFAULT_RESOURCES if given.resources is None else given.resources),
        service=service,
        concurrency=given.concurrency,
        cold_start_seconds=given.cold_start_seconds or 0.0,
        price_per_visit=given.price_per_visit,
        stateful=given.stateful,
        min_replicas=given.min_instances,
        placements=given.placements,
    )
