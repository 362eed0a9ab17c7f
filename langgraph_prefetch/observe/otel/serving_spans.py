"""What serving told of as something that took its time, as spans."""

from __future__ import annotations

from dataclasses import dataclass

from opentelemetry.util.types import AttributeValue

from langgraph_prefetch.events import ComponentCalled, ComponentWarmed, Event, PipelineEnded
from langgraph_prefetch.observe.otel import names


@dataclass(frozen=True, slots=True, kw_only=True)
class Lasted:
    """A span to be: it has ended when it is told of.

    Attributes:
        name: of it; there are few.
        at: when it ended, on the emitter's clock.
        seconds: it took.
        attributes: of it.
        error: the class of what it ended with; None: nothing.
    """

    name: str
    at: float
    seconds: float
    attributes: dict[str, AttributeValue]
    error: str | None = None


def lasted(event: Event) -> Lasted | None:
    """The span of an event; None of one that has none: a refusal took no time, a breaker's move is an instant."""
    match event:
        case ComponentCalled() if event.outcome != names.REFUSED:
            told: dict[str, AttributeValue | None] = {
                names.GATEWAY: event.gateway,
                names.COMPONENT: event.component,
                names.OUTCOME: event.outcome,
                names.WAITED_SECONDS: event.waited_seconds,
                names.FIRST_TOKEN_SECONDS: event.first_token_seconds,
                names.PIPELINE: event.pipeline,
                names.VARIANT: event.variant,
                names.SPILLED: event.spilled,
                names.SPECULATIVE: event.speculative,
                names.COST: event.cost,
            }
            error = (event.reason or names.ERROR_OTHER) if event.outcome == "failed" else None
            return _of(f"gateway {event.gateway}", event, told, error)
        case PipelineEnded():
            told = {
                names.PIPELINE: event.pipeline,
                names.CALLS: event.calls,
                names.DEGRADED: event.degraded,
                names.FAILED_CALLS: event.failed,
                names.COST: event.cost,
            }
            return _of(f"pipeline {event.pipeline}", event, told, event.error)
        case ComponentWarmed():
            told = {names.COMPONENT: event.component, names.CAUSE: event.cause}
            return _of(f"warm {event.component}", event, told, names.ERROR_OTHER if event.failed else None)
        case _:
            return None


def _of(
    name: str,
    event: ComponentCalled | PipelineEnded | ComponentWarmed,
    told: dict[str, AttributeValue | None],
    error: str | None,
) -> Lasted:
    attributes: dict[str, AttributeValue] = {each: value for each, value in told.items() if value is not None}
    return Lasted(name=name, at=event.at, seconds=event.seconds, attributes=attributes, error=error)
