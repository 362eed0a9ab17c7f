"""Launch, join, ignore or cancel? Pure decisions over values; the shell carries them out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from langgraph_prefetch.config import Budgets
from langgraph_prefetch.speculation.flight import FlightState
from langgraph_prefetch.values import Source


@dataclass(frozen=True, slots=True)
class Launch:
    """Start a retrieval."""


@dataclass(frozen=True, slots=True)
class Join:
    """The same retrieval is under way or ready."""


@dataclass(frozen=True, slots=True)
class Ignore:
    """Start nothing, for this reason."""

    reason: str


Decision = Launch | Join | Ignore


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """How many speculations have started, as each budget counts them."""

    guesses_in_step: int = 0
    sealed_in_step: int = 0
    in_run: int = 0
    in_scope: int = 0
    in_process: int = 0


def decide(source: Source, existing: FlightState | None, spent: Spent, budgets: Budgets) -> Decision:
    """What to do about one signal.

    Args:
        source: where the query came from.
        existing: where an unclaimed retrieval of the same key stands; None if there is none.
        spent: what has been started so far.
        budgets: how much may be.
    """
    match existing:
        case FlightState.QUEUED | FlightState.RUNNING | FlightState.READY:
            return Join()
        case FlightState.FAILED:
            return Ignore("failed a moment ago")
        case FlightState.CANCELLED | None:
            reason = used_up(source, spent, budgets)
            return Ignore(f"budget: {reason}") if reason else Launch()


def used_up(source: Source, spent: Spent, budgets: Budgets) -> str | None:
    """The name of the first budget that allows no further speculation, or None."""
    if source is Source.SEALED:
        step = ("sealed_per_step", spent.sealed_in_step, budgets.sealed_per_step)
    else:
        step = ("guesses_per_step", spent.guesses_in_step, budgets.guesses_per_step)
    rows = (
        step,
        ("per_run", spent.in_run, budgets.per_run),
        ("per_scope_per_minute", spent.in_scope, budgets.per_scope_per_minute),
        ("per_process_per_minute", spent.in_process, budgets.per_process_per_minute),
    )
    return next((name for name, used, limit in rows if used >= limit), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unclaimed:
    """A speculation nobody has claimed yet, as :func:`to_cancel` sees it."""

    id: str
    tool: str
    source: Source
    state: FlightState


def to_cancel(tool: str, unclaimed: Iterable[Unclaimed]) -> tuple[str, ...]:
    """Ids of the speculations to give up because a real call of ``tool`` found no answer.

    The guesses that wait in the queue would now compete with a call that somebody waits for. Running ones are kept:
    their cost is spent, and a later step may still ask for them.
    """
    return tuple(
        each.id
        for each in unclaimed
        if each.tool == tool and each.source is Source.REASONING and each.state is FlightState.QUEUED
    )
