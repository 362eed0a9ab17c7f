"""Two arms' bills beside each other, with the time that the difference buys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from langgraph_prefetch.evaluation.costs.bill import Bill
from langgraph_prefetch.evaluation.rows import RunRow
from langgraph_prefetch.money import MICRO, less, number, share, times, total


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What the second arm costs more than the first, for 1,000 questions, line by line; below 0 it costs less.

    Attributes:
        first, second: names of the arms.
        lines: name and difference; they add up to ``total`` exactly.
        unknown: names of the lines of which an arm told nothing at all; their difference counts as 0.
        complete: whether all of both bills is known. If not, the difference is of what is known.
    """

    first: str
    second: str
    lines: tuple[tuple[str, Decimal], ...]
    unknown: frozenset[str] = frozenset()
    complete: bool = True

    @property
    def total(self) -> Decimal:
        """The sum of the lines."""
        return total(amount for _, amount in self.lines)

    def per_saved_second(self, saved_seconds: float) -> Decimal | None:
        """What a second costs that a question is answered sooner; None where none is saved.

        Args:
            saved_seconds: of one question, on average.
        """
        if not saved_seconds > 0:
            return None
        return share(self.total, times(number("saved_seconds", saved_seconds), Decimal(1000)), MICRO)


def difference(first: Bill, second: Bill) -> Difference:
    """``second`` less ``first``."""
    of_first = {line.name: first.per_thousand(line) for line in first.lines}
    of_second = {line.name: second.per_thousand(line) for line in second.lines}
    unknown = frozenset(line.name for each in (first, second) for line in each.lines if not line.known)
    nothing = Decimal(0)
    return Difference(
        first=first.arm,
        second=second.arm,
        lines=tuple(
            (
                name,
                nothing if name in unknown else less(of_second.get(name, nothing), of_first.get(name, nothing)),
            )
            for name in dict.fromkeys([*of_first, *of_second])
        ),
        unknown=unknown,
        complete=first.complete and second.complete,
    )


def saved_seconds(first: Iterable[RunRow], second: Sequence[RunRow]) -> tuple[float, ...]:
    """By how much each run of the second arm was shorter than the first's run of the same question.

    Pairs of which one has no answer are left out.
    """
    of_first = {_pair(row): row.seconds for row in first if row.error is None}
    return tuple(of_first[_pair(row)] - row.seconds for row in second if row.error is None and _pair(row) in of_first)


def _pair(row: RunRow) -> tuple[str, str, int, int, bool]:
    return row.suite, row.question_id, row.batch, row.repeat, row.warm
