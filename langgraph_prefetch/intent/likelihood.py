"""P(a search will ask exactly this): rates by form, shape and habit.

`RATES` was counted on 10,379 model messages of five recorded sets (Reflexion and ReAct on Wikipedia, FireAct and
R1-Searcher on the web, tau-bench as negatives): of the candidates that fall into a row, the share that was the query
of this search or of a later one of the same run. Each row is drawn towards the rate of its form by four imaginary
candidates (additive smoothing), then rounded to 0.01 below 0.1 and to 0.05 above. Five-fold cross-validation by
question moves coverage by under 2 points.

Some rows are set, not counted: ``item`` (one of three things), because the recorded agents make one call at a time
while others ask for all items at once; ``clause`` (Korean, Chinese, Japanese) and ``information`` ("find information
about X"), of which there are no or too few recordings; ``second/lower`` and ``whole/lower/long``, whose few cases the
smoothing would draw too high.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import MappingProxyType

from langgraph_prefetch.intent.cues import CueSet
from langgraph_prefetch.intent.forms import Candidate, Form

_BRACKETED = re.compile(r"\s\([^)]*\)?")
RATES: Mapping[str, float] = MappingProxyType(
    {
        "before/name": 0.25,
        "clause": 0.5,
        "first/full/names": 0.5,
        "first/full/nothing": 0.9,
        "first/full/phrases": 0.2,
        "first/short/names": 0.15,
        "first/short/nothing": 0.5,
        "first/short/phrases": 0.25,
        "history/names": 0.15,
        "history/phrases": 0.03,
        "information/name": 0.5,
        "inside/lower": 0.15,
        "inside/mixed": 0.06,
        "inside/name": 0.07,
        "item/mixed": 0.15,
        "item/name": 0.15,
        "joined/mixed": 0.35,
        "joined/name": 0.03,
        "look_up/first": 0.35,
        "look_up/other": 0.03,
        "look_up/title": 0.25,
        "mention/mixed": 0.09,
        "mention/name": 0.35,
        "of_kind/mixed": 0.3,
        "of_kind/name": 0.7,
        "pair/full/names": 0.3,
        "pair/full/nothing": 0.01,
        "pair/full/phrases": 0.08,
        "pair/short/names": 0.75,
        "pair/short/nothing": 0.5,
        "pair/short/phrases": 0.55,
        "place/mixed": 0.75,
        "place/name": 0.95,
        "quoted/drops": 0.06,
        "quoted/keeps": 0.85,
        "quoted/question": 0.6,
        "quoted/unknown": 0.1,
        "second/later": 0.04,
        "second/lower": 0.05,
        "second/nothing": 0.5,
        "unowned/names": 0.5,
        "unowned/nothing": 0.25,
        "unowned/phrases": 0.7,
        "unquoted/drops": 0.9,
        "unquoted/keeps": 0.02,
        "unquoted/question": 0.15,
        "unquoted/unknown": 0.85,
        "whole/lower/long/first": 0.1,
        "whole/lower/long/later": 0.1,
        "whole/lower/short/first": 0.5,
        "whole/lower/short/later": 0.15,
        "whole/mixed/owned": 0.3,
        "whole/mixed/plain": 0.7,
        "whole/name/names": 0.95,
        "whole/name/nothing": 0.95,
        "whole/name/phrases": 0.85,
    }
)
"""P(exact query) by row; a row that is not listed was too rare to count and stands for 0."""

_OWNER = re.compile(r"['’]s?\s[a-z]")
_SMALL = frozenset("of the and in to for a an on at vs. v de la or by with is from".split())


class Shape(StrEnum):
    """What a query's words look like."""

    NAME = "name"
    """Every word of weight starts with a capital or digit: "Mount Everest", "Alien (film)"."""
    MIXED = "mixed"
    """Starts like a name and goes on in words: "Mount Everest height"."""
    LOWER = "lower"
    """Starts in words: "height of Mount Everest"."""


def shape(text: str) -> Shape:
    """The shape of a query. What stands in brackets does not count."""
    words = _BRACKETED.sub("", text).strip("\"“”'").split()
    if not words or not (words[0][:1].isupper() or words[0][:1].isdigit()):
        return Shape.LOWER
    return Shape.MIXED if any(word[:1].islower() and word not in _SMALL for word in words) else Shape.NAME


class Asks(StrEnum):
    """What the run's latest query looked like."""

    NOTHING = "nothing"
    """There has been none."""
    NAMES = "names"
    PHRASES = "phrases"


@dataclass(frozen=True, slots=True)
class Habit:
    """How this run's agent writes its queries, read from its question and its queries so far.

    ``looks_up`` says whether the agent has a tool for looking things up in the open page, so that "look up" does not
    mean a search.
    """

    question: str = ""
    earlier: tuple[str, ...] = ()
    looks_up: bool = True

    @property
    def asks(self) -> Asks:
        """The kind of query the run asked last."""
        if not self.earlier:
            return Asks.NOTHING
        return Asks.NAMES if shape(self.earlier[-1]) is Shape.NAME else Asks.PHRASES

    @property
    def quotes(self) -> str:
        """Whether queries keep their quotes: ``keeps``, ``drops``, or ``unknown``."""
        if not self.earlier:
            return "unknown"
        return "keeps" if any('"' in query for query in self.earlier) else "drops"


@cache
def rates_of(cues: CueSet) -> Mapping[str, float]:
    """`RATES` with those of a cue set in place of the rows that it has."""
    return MappingProxyType({**RATES, **dict(cues.rates)})


def likelihood(candidate: Candidate, verb: str, habit: Habit, rates: Mapping[str, float] = RATES) -> float:
    """P(a search of this step or a later one asks exactly ``candidate.text``), given that its clause is a directive.

    ``verb`` is the name of the search cue, e.g. ``en.look_up``; ``rates`` are by row.
    """
    return rates.get(row(candidate, verb, habit), 0.0)


def row(candidate: Candidate, verb: str, habit: Habit) -> str:
    """The row of `RATES` that a candidate falls into."""
    text, form, look, asks = candidate.text, candidate.form, shape(candidate.text), habit.asks
    if form is Form.HISTORY:
        return f"history/{asks}" if verb != "en.look_up" else "look_up/other"
    if form is Form.CLAUSE:
        return "clause"
    if verb == "en.look_up" and habit.looks_up:
        return f"look_up/{_look_up(candidate, look, habit)}"
    if verb == "en.get_information":
        return f"information/{look}"
    match form, look:
        case ((Form.QUOTED | Form.UNQUOTED), _):
            in_question = habit.quotes == "unknown" and text.strip('"') in habit.question
            return f"{form}/{'question' if in_question else habit.quotes}"
        case ((Form.PAIR | Form.FIRST), _):
            size = "short" if candidate.one_name else "full"
            return f"{form}/{size}/{asks}"
        case ((Form.SECOND | Form.JOINED), Shape.LOWER):
            return f"{form}/lower"
        case Form.SECOND, _:
            return f"second/{'nothing' if asks is Asks.NOTHING else 'later'}"
        case Form.WHOLE, Shape.NAME:
            return f"whole/name/{asks}"
        case Form.WHOLE, Shape.MIXED:
            return f"whole/mixed/{'owned' if _OWNER.search(text) else 'plain'}"
        case Form.WHOLE, Shape.LOWER:
            size = "short" if len(text.split()) <= 3 else "long"
            return f"whole/lower/{size}/{'first' if asks is Asks.NOTHING else 'later'}"
        case Form.UNOWNED, _:
            return f"unowned/{asks}"
    return f"{form}/{look}"


def _look_up(candidate: Candidate, look: Shape, habit: Habit) -> str:
    """Agents with a look-up tool for the open page mean that; but before any search no page is open."""
    if not habit.earlier and look is Shape.NAME and candidate.text in habit.question:
        return "first" if candidate.form in (Form.WHOLE, Form.OF_KIND) else "other"
    return "title" if candidate.form is Form.UNQUOTED and "(" in candidate.text else "other"
