"""What became of a suite's hypotheses: the question that a reader asks first. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langgraph_prefetch.evaluation.reporting.values import Section, Table
from langgraph_prefetch.evaluation.statistics.values import Estimate, TestResult
from langgraph_prefetch.suites.cells import estimate, p_value

HELD = "held"
NOT_HELD = "not held"
NOT_SHOWN = "not shown"
UNTOLD = "cannot be told"
NO_CLAIM = "no difference found"
"""Less than 'there is none': too few runs find none, either."""

ALPHA = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What became of one hypothesis.

    Attributes:
        claim: what was tested, in words.
        became: :data:`HELD`, :data:`NOT_HELD`, :data:`NOT_SHOWN`, :data:`NO_CLAIM` or :data:`UNTOLD`.
        found: the figures that say so.
    """

    claim: str
    became: str
    found: str


def answers_section(answers: Sequence[Answer], *, smoke: bool) -> Section:
    """All of them, in the order in which the suite's file states them."""
    table = Table(
        caption="Each hypothesis, and what the runs say of it",
        head=("hypothesis", "became", "found"),
        rows=tuple((each.claim, each.became, each.found) for each in answers),
        note="This was a smoke run: what became of them means nothing." if smoke else "",
    )
    return Section(title="What became of the hypotheses", blocks=(table,))


def held(claim: str, is_so: bool | None, found: str, *, otherwise: str = NOT_HELD) -> Answer:
    """``is_so`` None: the data allow no answer."""
    return Answer(claim=claim, became=UNTOLD if is_so is None else HELD if is_so else otherwise, found=found)


def no_difference(claim: str, tests: Sequence[tuple[str, TestResult]]) -> Answer:
    """Of tests that were to find nothing. That they find nothing does not show that there is nothing."""
    known = [(name, test.p_value) for name, test in tests if test.p_value is not None]
    told = ", ".join(f"{name}: {p_said(value)}" for name, value in known)
    if not known:
        return Answer(claim=claim, became=UNTOLD, found="no test could be made")
    differ = [name for name, value in known if value < ALPHA]
    if differ:
        return Answer(claim=claim, became=NOT_HELD, found=told)
    return Answer(claim=claim, became=NO_CLAIM, found=f"{told}; that does not show that there is none")


def p_said(value: float | None) -> str:
    """A p-value within a sentence."""
    cell = p_value(value)
    return f"p {cell}" if cell.startswith("<") else f"p = {cell}"


def below(found: Estimate, limit: float) -> bool | None:
    """Whether the whole interval lies below; None without one."""
    return None if found.interval is None else found.interval.high < limit


def said(found: Estimate, unit: str = "") -> str:
    """An estimate within a sentence, with why it lacks its interval."""
    return f"{estimate(found, unit)}{f' ({found.note})' if found.note and found.interval is None else ''}"
