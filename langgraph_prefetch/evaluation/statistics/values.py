"""What a statistic says: a number, how sure it is, and how many observations it rests on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A confidence interval; ``level`` is its coverage, such as 0.95."""

    low: float
    high: float
    level: float = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number with its interval.

    Attributes:
        value: the estimate; None where the data allow none, and then ``note`` says why.
        interval: None where none can be given.
        n: observations it rests on.
        note: what a reader has to know.
    """

    value: float | None
    interval: Interval | None = None
    n: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """A test of a hypothesis.

    Attributes:
        name: of the test, such as ``Mann-Whitney U``.
        statistic, p_value: None where the data allow none, and then ``note`` says why.
        n: observations of each sample.
        effect: the size of what was tested, with its name.
        effect_name: such as ``Cliff's delta``.
        note: what a reader has to know.
    """

    __test__ = False

    name: str
    statistic: float | None
    p_value: float | None
    n: tuple[int, ...]
    effect: Estimate | None = None
    effect_name: str = ""
    note: str = ""
