"""One plan type: operators in order, each with the pattern by which rows come to the workers that run it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from langgraph_prefetch.errors import PlanError


class Pattern(StrEnum):
    """How rows move between the workers of one operator and those of the next."""

    INDEPENDENT = "independent"
    """They do not: each worker goes on with its own."""
    BROADCAST = "broadcast"
    """Every row goes to every worker."""
    SHUFFLE = "shuffle"
    """Each row goes to the one worker that its key names, so that equal keys meet."""
    REDUCE = "reduce"
    """Rows that meet become fewer: on their key's worker after a shuffle, else all on one worker."""
    EXCHANGE = "exchange"
    """What each worker has goes to all the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """One step of a plan.

    Attributes:
        name: unique within the plan.
        patterns: how its input comes to it; a shuffle may be followed by a reduction of what met.
        does: what it makes of its input, in a few words.
        key: what a shuffle goes by.
    """

    name: str
    patterns: tuple[Pattern, ...]
    does: str
    key: str | None = None

    def __post_init__(self) -> None:
        if self.patterns not in _ALLOWED:
            given = ", ".join(self.patterns) or "none"
            raise PlanError(f"operator {self.name!r}: one pattern, or shuffle and then reduce; not {given}")
        if (Pattern.SHUFFLE in self.patterns) is (self.key is None):
            raise PlanError(f"operator {self.name!r}: a shuffle needs a key, and nothing else has one")

    @property
    def moves(self) -> str:
        """Its patterns in words: ``shuffle by key, reduce``."""
        return ", ".join(f"{each} by {self.key}" if each is Pattern.SHUFFLE else str(each) for each in self.patterns)


_ALLOWED = {*((each,) for each in Pattern), (Pattern.SHUFFLE, Pattern.REDUCE)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Operators in the order in which rows pass through them.

    Raises:
        PlanError: no operator, or two of one name.
    """

    name: str
    operators: tuple[Operator, ...]

    def __post_init__(self) -> None:
        names = [each.name for each in self.operators]
        if not names or len(set(names)) < len(names):
            raise PlanError(f"plan {self.name!r} needs operators, each with a name of its own: {names}")

    def __getitem__(self, name: str) -> Operator:
        """The operator of a name.

        Raises:
            KeyError: there is none.
        """
        for each in self.operators:
            if each.name == name:
                return each
        raise KeyError(name)

    def explain(self) -> str:
        """The plan as a tree of lines: each operator, the pattern by which its input comes, and what it does."""
        names = max(len(each.name) for each in self.operators)
        moves = max(len(each.moves) for each in self.operators)
        lines = [self.name]
        for each in self.operators:
            branch = "└─" if each is self.operators[-1] else "├─"
            lines.append(f"{branch} {each.name:<{names}}  [{each.moves}]{' ' * (moves - len(each.moves))}  {each.does}")
        return "\n".join(lines)
