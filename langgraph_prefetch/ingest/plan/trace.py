"""What the operators of a plan did, in an order that no timing changes; kept as lines of JSON, and compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from langgraph_prefetch.errors import OperatorTraceError

_MAX_LINE_CHARS = 65_536


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class OperatorStep:
    """One run of one operator on one worker's rows.

    Attributes:
        decision: which of the agent's decisions it belongs to, counted from 0; 0 in an ingestion.
        place: the operator's place in its plan, counted from 0.
        partition: the worker.
        sequence: which of this worker's inputs, counted from 0.
        plan: the plan's name.
        operator: the operator's name.
        rows_in: how many rows came in.
        rows_out: how many went out.
        digest: of the rows that went out and their order, in hexadecimal; no text can be read from it.
    """

    decision: int
    place: int
    partition: int
    sequence: int
    plan: str
    operator: str
    rows_in: int
    rows_out: int
    digest: str


class OperatorTrace:
    """The steps of a run, sorted by decision, operator, worker and input, whenever each happened to end."""

    def __init__(self, steps: Iterable[OperatorStep] = ()) -> None:
        self.steps = tuple(sorted(steps))

    def __eq__(self, other: object) -> bool:
        return self.steps == other.steps if isinstance(other, OperatorTrace) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[OperatorStep]:
        return iter(self.steps)

    def difference(self, other: OperatorTrace) -> str | None:
        """The first step at which two traces part, in words; None for equal ones."""
        for mine, theirs in zip(self.steps, other.steps, strict=False):
            if mine != theirs:
                parts = [each.name for each in fields(mine) if getattr(mine, each.name) != getattr(theirs, each.name)]
                told = ", ".join(f"{name} {getattr(mine, name)!r} and {getattr(theirs, name)!r}" for name in parts)
                return f"decision {mine.decision}, {mine.plan}/{mine.operator}, worker {mine.partition}: {told}"
        if len(self) != len(other):
            return f"{len(self)} steps and {len(other)}"
        return None

    def save(self, path: str | Path) -> None:
        """Write it, a step a line."""
        lines = [json.dumps(asdict(each), ensure_ascii=False) for each in self.steps]
        Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> OperatorTrace:
        """Read what ``save`` wrote.

        Raises:
            OperatorTraceError: the file cannot be read, or a line of it is no step.
        """
        steps = []
        try:
            with Path(path).open(encoding="utf-8") as file:
                number = 0
                while line := file.readline(_MAX_LINE_CHARS):
                    number += 1
                    steps.append(_step(line, str(path), number))
        except (OSError, UnicodeDecodeError) as error:
            raise OperatorTraceError(str(path), f"cannot be read ({type(error).__name__})") from error
        return cls(steps)


def _step(line: str, path: str, number: int) -> OperatorStep:
    try:
        found = json.loads(line)
        step = OperatorStep(**found)
        if any(type(getattr(step, each.name)).__name__ != each.type for each in fields(step)):
            raise TypeError
    except (ValueError, TypeError) as error:
        raise OperatorTraceError(path, f"line {number} is no step of an operator") from error
    return step
