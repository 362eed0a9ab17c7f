"""Runs a plan in the plainest way, on lists, one operator after the other: what any faster engine has to equal."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from langgraph_prefetch.errors import PlanError
from langgraph_prefetch.ingest.plan.operators import Operator, Pattern, Plan
from langgraph_prefetch.ingest.plan.trace import OperatorStep, OperatorTrace

Row = Any
"""Anything JSON can hold; a shuffle's key is looked up in it by name."""
Rows = tuple[Row, ...]
Work = Callable[[int, Rows], Iterable[Row]]
"""What an operator does: a worker's number, counted from 0, and the rows that came to it; returns what goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One thing an agent decided to do: a plan to run, by name, and what to run it on."""

    plan: str
    rows: Rows


def interpret(
    plan: Plan,
    work: Mapping[str, Work],
    inputs: Sequence[Iterable[Row]],
    *,
    workers: int | None = None,
    decision: int = 0,
) -> tuple[tuple[Rows, ...], OperatorTrace]:
    """Run a plan.

    Args:
        plan: what to run.
        work: what each operator does, by its name.
        inputs: the rows that each worker begins with.
        workers: how many workers rows may be spread to; as many as there are inputs, unless given.
        decision: the number that the trace's steps bear.

    Returns:
        Each worker's rows at the end, and what happened.

    Raises:
        PlanError: an operator's work is missing.
    """
    missing = [each.name for each in plan.operators if each.name not in work]
    if missing:
        raise PlanError(f"plan {plan.name!r}: nothing was given for {', '.join(map(repr, missing))}")
    held = tuple(tuple(each) for each in inputs)
    count = max(workers or len(held), 1)
    steps = []
    for place, operator in enumerate(plan.operators):
        arrived = moved(operator, held, count)
        held = tuple(tuple(work[operator.name](number, rows)) for number, rows in enumerate(arrived))
        steps += [
            OperatorStep(
                decision=decision,
                place=place,
                partition=number,
                sequence=0,
                plan=plan.name,
                operator=operator.name,
                rows_in=len(before),
                rows_out=len(after),
                digest=digest(after),
            )
            for number, (before, after) in enumerate(zip(arrived, held, strict=True))
        ]
    return held, OperatorTrace(steps)


def replay(
    decisions: Iterable[Decision], plans: Iterable[Plan], work: Mapping[str, Work], *, workers: int = 1
) -> OperatorTrace:
    """Run the plans that an agent decided on, in its order; equal decisions leave an equal trace.

    Raises:
        PlanError: a decision names no plan, or an operator's work is missing.
    """
    known = {each.name: each for each in plans}
    steps: list[OperatorStep] = []
    for number, each in enumerate(decisions):
        if each.plan not in known:
            raise PlanError(
                f"decision {number}: no plan named {each.plan!r} among {', '.join(sorted(known)) or 'none'}"
            )
        _, trace = interpret(known[each.plan], work, [each.rows], workers=workers, decision=number)
        steps += trace
    return OperatorTrace(steps)


def moved(operator: Operator, held: tuple[Rows, ...], workers: int) -> tuple[Rows, ...]:
    """Which rows come to each worker of an operator, given those that each of the one before holds."""
    everything = tuple(row for rows in held for row in rows)
    match operator.patterns[0]:
        case Pattern.INDEPENDENT:
            return held
        case Pattern.BROADCAST | Pattern.EXCHANGE:
            return (everything,) * workers
        case Pattern.REDUCE:
            return (everything,)
        case Pattern.SHUFFLE:
            assert operator.key is not None
            spread: list[list[Row]] = [[] for _ in range(workers)]
            for row in everything:
                spread[worker_of(str(row[operator.key]), workers)].append(row)
            return tuple(map(tuple, spread))


def worker_of(key: str, workers: int) -> int:
    """The worker that a key belongs to; the same in every process."""
    return int.from_bytes(blake2b(key.encode(), digest_size=8).digest()) % workers


def digest(rows: Iterable[Row]) -> str:
    """Equal for equal rows in equal order; 16 bytes as hexadecimal."""
    told = blake2b(digest_size=16)
    for row in rows:
        encoded = json.dumps(row, sort_keys=True, ensure_ascii=True, default=str).encode()
        told.update(len(encoded).to_bytes(8))
        told.update(encoded)
    return told.hexdigest()
