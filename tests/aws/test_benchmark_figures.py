"""What the benchmark says of what it measured: each figure is always there, and none is good by being empty."""

from collections import Counter

import pytest

from benchmarks.aws.kills import KillSettings
from benchmarks.aws.kills import _part as kills_part
from benchmarks.aws.loading import Loaded
from benchmarks.aws.memory import Sample, Tally
from benchmarks.aws.memory import _part as memory_part
from benchmarks.aws.outage import SEARCH_SECONDS, Asked, Phase
from benchmarks.aws.outage import _part as outage_part
from benchmarks.aws.study import StudySettings
from benchmarks.aws.study import _part as study_part
from benchmarks.aws.tables import NOTHING, Figure, Part
from langgraph_prefetch.events import SearchCallAnswered

NAMES = ("all well", "table silent")


def call(waited: float) -> SearchCallAnswered:
    return SearchCallAnswered(
        run_id="r",
        step=1,
        at=0.0,
        call_id="c",
        tool="search",
        source=None,
        speculation_id=None,
        late=False,
        reason="still queued",
        waited_seconds=waited,
        retrieval_seconds=SEARCH_SECONDS,
        lead_seconds=0.0,
        hideable_seconds=0.0,
        hidden_seconds=0.0,
    )


def asked(*, same: bool = True, error: str = "", waited: float | None = SEARCH_SECONDS) -> Asked:
    return Asked("Bridge 1", same, error, None if waited is None else call(waited), 0.1)


def outage(*of_the_second: Asked) -> Part:
    return outage_part([Phase("all well", [asked()]), Phase("table silent", of_the_second)], Phase("bare", [asked()]))


def figure(part: Part, begins: str) -> Figure:
    (found,) = (each for each in part.figures if each.measure.startswith(begins))
    return found


def kills(loaded: Loaded, answers: dict[str, object], lines: list[str]) -> Part:
    return kills_part(KillSettings(), loaded, answers, Counter(lines), 1, (0, 0))


def test_an_outage_that_changes_nothing_holds() -> None:
    """Right answers, in time."""
    assert outage(asked()).held


@pytest.mark.parametrize(
    ("bad", "begins", "says"),
    [
        (asked(same=False), "questions whose messages", "1"),
        (asked(same=False, error="KeyError", waited=None), "questions whose messages", "1 (raised: KeyError)"),
        (asked(waited=None), "searches of which no event", "1"),
        (asked(waited=SEARCH_SECONDS + 0.5), "calls slower", "1 of 2 (1: table silent); the worst by 400 ms"),
    ],
)
def test_an_outage_that_changes_something_does_not(bad: Asked, begins: str, says: str) -> None:
    """Another answer, an exception, a search that nobody told of, a slow call: each breaks its own limit."""
    part = outage(bad)
    assert [each.measure.startswith(begins) for each in part.figures if each.held is False] == [True]
    assert figure(part, begins).measured == says


def test_an_outage_without_questions_says_so() -> None:
    """All figures are there, and limits of which nothing is known are not held."""
    full, empty = outage(asked()), outage_part([Phase(name, []) for name in NAMES], Phase("bare", []))
    assert len(empty.figures) == len(full.figures)
    assert {each.measured for each in empty.figures} == {NOTHING}
    assert all(each.held is False for each in empty.figures if each.limit != "printed")


def test_kills() -> None:
    """Lost, answered anew, or answered by nobody: each breaks its limit; so does a load that had no answers."""
    good = Loaded(sent=2, answers={"a": "a 1", "b": "b 1"}, delays=[0.1, 0.2])
    lines = ["a 1", "b 1"]
    assert kills(good, dict(good.answers), lines).held
    assert figure(kills(good, {"a": "a 1", "b": "b 2"}, [*lines, "b 2"]), "answered twice").held is False
    assert figure(kills(good, dict(good.answers), ["a 1"]), "answers that no worker").held is False
    lost = Loaded(sent=2, answers={"a": "a 1"}, troubles={"b": "it did not end in time"})
    assert figure(kills(lost, {"a": "a 1"}, lines), "searches lost").measured == "1, 0 (1: it did not end in time)"
    nothing = kills(Loaded(), {}, [])
    assert [each.measured for each in nothing.figures].count(NOTHING) == 3
    assert not nothing.held


def test_memory() -> None:
    """Wrong, lost, and lost without a reason are told apart, and each breaks the limit."""
    samples: list[Sample] = [(number, {"agent": 1_000.0}) for number in (1, 2, 3, 4, 5)]
    tally = Tally()
    tally.add(Loaded(sent=3, answers={"a": "passages about a", "b": "passages about a"}))
    part = memory_part(samples, tally, 0)
    assert part.figures[0].measured == "1 of 3; 1, 1, 0; 0 (1: nobody told why)"
    assert part.figures[0].held is False
    tally = Tally()
    tally.add(Loaded(sent=1, answers={"a": "passages about a"}))
    tally.add(Loaded(sent=1, refused={"c": "the queue does not work"}))
    assert memory_part(samples, tally, 0).held
    assert memory_part(samples, tally, 0).figures[0].measured == "1 of 2; 0, 0, 0; 1 (1: the queue does not work)"
    assert not memory_part(samples, tally, 1).held
    assert not memory_part(samples, Tally(), 0).held


def test_a_study_without_runs_says_so() -> None:
    """Every figure is there; none of the limits is held."""
    part = study_part([], [], [], StudySettings())
    assert len(part.figures) == 12
    assert all(each.measured for each in part.figures)
    assert [each.measured for each in part.figures].count(NOTHING) >= 5
    assert all(each.held is not True for each in part.figures)
