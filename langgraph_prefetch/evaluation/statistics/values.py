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


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One pair of several groups; ``adjusted_p`` is its p-value, corrected for there being other pairs."""

    first: str
    second: str
    result: TestResult
    adjusted_p: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginTest:
    """Two one-sided tests of a difference, *second less first*, against a margin that was stated beforehand.

    Attributes:
        name: of the test.
        difference: the estimate with its interval of level 1 - 2 alpha, which lies inside the margin just where the
            tests say so.
        margin: how large a difference is still no difference that matters; above 0.
        alpha: of each of the two tests.
        p_lower: of the hypothesis that the difference is -margin or less; None where the data allow none.
        p_upper: of the hypothesis that it is +margin or more.
        note: what a reader has to know.
    """

    name: str
    difference: Estimate
    margin: float
    alpha: float
    p_lower: float | None
    p_upper: float | None
    note: str = ""

    @property
    def p_value(self) -> float | None:
        """Of equivalence: the larger of the two."""
        if self.p_lower is None or self.p_upper is None:
            return None
        return max(self.p_lower, self.p_upper)

    @property
    def not_lower(self) -> bool:
        """Shown to be lower by less than the margin: non-inferior, where more is better."""
        return self.p_lower is not None and self.p_lower < self.alpha

    @property
    def not_higher(self) -> bool:
        """Shown to be higher by less than the margin: non-inferior, where less is better."""
        return self.p_upper is not None and self.p_upper < self.alpha

    @property
    def equivalent(self) -> bool:
        """Shown to be both."""
        return self.not_lower and self.not_higher


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityBin:
    """Predictions of about ``predicted``, of which the share ``observed`` came true."""

    predicted: float
    observed: float
    n: int
    interval: Interval | None = None
