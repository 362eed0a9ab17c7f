"""What came of private model calls, counted."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

TOGETHER = "together"
AT_HAND, NO_GUESS = "at hand", "no guess"
"""Kinds of calls without a guess: one that is answered at once needs none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One search call.

    Attributes:
        file: of the recording.
        kind: of its guess; or :data:`AT_HAND`, or :data:`NO_GUESS`.
        waited: seconds from the call to its result.
        equal: the guess is the result, letter for letter.
        verdict: what the gate or a bound said; empty without a guess.
        started: the next model call began in private.
        adopted: it was the one that the run made next.
        hidden: seconds by which it had begun when it was asked for.
        read, written: tokens of a private call that was cancelled.
    """

    file: str
    kind: str
    waited: float
    equal: bool = False
    verdict: str = ""
    started: bool = False
    adopted: bool = False
    hidden: float = 0.0
    read: int = 0
    written: int = 0

    @property
    def guessed(self) -> bool:
        """It had to wait, and its result was guessed."""
        return self.kind not in (AT_HAND, NO_GUESS)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedFigures:
    """Some search calls. A share of nothing is 0.

    Attributes:
        search_calls: how many.
        at_hand_share: calls that a ready exact speculation answers at once, so that nothing starts / calls.
        guessed_share: calls that wait and have a guess / calls.
        equal_share: guesses that are the result / guesses.
        started_share: calls beside which the next model call began in private / calls.
        adopted_share: calls whose private call was adopted / calls.
        waited_seconds: from call to result, in all.
        hidden_seconds: of them, time in which an adopted call was under way.
        cancelled: private calls that nobody used.
        wasted_input_tokens, wasted_output_tokens: what these read and wrote.
    """

    search_calls: int
    at_hand_share: float
    guessed_share: float
    equal_share: float
    started_share: float
    adopted_share: float
    waited_seconds: float
    hidden_seconds: float
    cancelled: int
    wasted_input_tokens: int
    wasted_output_tokens: int

    def as_json(self) -> dict[str, Any]:
        """A JSON object; numbers are rounded to a millionth."""
        values = ((name, getattr(self, name)) for name in self.__slots__)
        return {name: round(value, 6) if isinstance(value, float) else value for name, value in values}


def figures_of(calls: Sequence[Tried]) -> VerifiedFigures:
    """Count ``calls``."""
    every, guessed = max(1, len(calls)), sum(each.guessed for each in calls)
    return VerifiedFigures(
        search_calls=len(calls),
        at_hand_share=sum(each.kind == AT_HAND for each in calls) / every,
        guessed_share=guessed / every,
        equal_share=sum(each.equal for each in calls if each.guessed) / max(1, guessed),
        started_share=sum(each.started for each in calls) / every,
        adopted_share=sum(each.adopted for each in calls) / every,
        waited_seconds=math.fsum(each.waited for each in calls),
        hidden_seconds=math.fsum(each.hidden for each in calls),
        cancelled=sum(each.started and not each.adopted for each in calls),
        wasted_input_tokens=sum(each.read for each in calls),
        wasted_output_tokens=sum(each.written for each in calls),
    )


def by_file(calls: Iterable[Tried], files: Iterable[str]) -> dict[str, list[Tried]]:
    """The calls of each file, and of all together at the end."""
    held = list(calls)
    found = {file: [each for each in held if each.file == file] for file in files}
    return {**found, TOGETHER: held}


def by_kind(calls: Iterable[Tried]) -> dict[str, list[Tried]]:
    """The calls with guesses, by kind, the commonest first."""
    held = [each for each in calls if each.guessed]
    kinds = Counter(each.kind for each in held)
    return {kind: [each for each in held if each.kind == kind] for kind, _ in kinds.most_common()}


def as_json(calls: Sequence[Tried]) -> dict[str, Any]:
    """The figures of ``calls``, of each kind of guess among them, and why guesses started nothing."""
    ignored = Counter(each.verdict for each in calls if each.guessed and not each.started)
    kinds = {kind: _of_kind(held, len(calls)) for kind, held in by_kind(calls).items()}
    return {**figures_of(calls).as_json(), "ignored": dict(ignored.most_common()), "by_kind": kinds}


_OF_A_KIND = (
    *("guessed_share", "equal_share", "started_share", "adopted_share", "hidden_seconds", "cancelled"),
    *("wasted_input_tokens", "wasted_output_tokens"),
)
_SHARES_OF_CALLS = {"guessed_share", "started_share", "adopted_share"}


def _of_kind(held: Sequence[Tried], calls: int) -> dict[str, Any]:
    """Shares are of all search calls, as those of the file are, so that the kinds add up."""
    figures = figures_of(held)
    part = len(held) / max(1, calls)
    values = ((name, getattr(figures, name) * (part if name in _SHARES_OF_CALLS else 1)) for name in _OF_A_KIND)
    return {name: round(value, 6) if isinstance(value, float) else value for name, value in values}


def verified_table(calls: Iterable[Tried], files: Iterable[str]) -> str:
    """A line a file, and one for each kind of guess in all of them."""
    parts = by_file(calls, files)
    head = (
        "verified",
        "calls",
        "at hand",
        "guessed",
        "equal",
        "started",
        "adopted",
        "hidden / waited",
        "wasted tokens",
    )
    lines = [_line(name.rpartition("/")[2], held, len(held)) for name, held in parts.items()]
    every = parts[TOGETHER]
    kinds = [_line(f"  {kind}", held, len(every)) for kind, held in by_kind(every).items()]
    rows = [head, *lines, *kinds]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if at else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def _line(name: str, held: Sequence[Tried], calls: int) -> tuple[str, ...]:
    figures, part = figures_of(held), len(held) / max(1, calls)
    return (
        name,
        str(figures.search_calls),
        f"{figures.at_hand_share * part:.1%}",
        f"{figures.guessed_share * part:.1%}",
        f"{figures.equal_share:.1%}" if figures.guessed_share else "-",
        f"{figures.started_share * part:.1%}",
        f"{figures.adopted_share * part:.1%}",
        f"{figures.hidden_seconds:.1f} / {figures.waited_seconds:.1f} s",
        f"{figures.wasted_input_tokens:,} read, {figures.wasted_output_tokens:,} written",
    )
