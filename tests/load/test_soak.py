"""A small soak: what thousands of runs must not leave behind shows in hundreds, and a leak would be seen.

The runs are made in a process of their own: what is measured there belongs to them, and not to the tests before.
"""

import dataclasses
import functools
import itertools
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from benchmarks.soak import Sample, Soak, broken_rules, sample, slope, soaked
from langgraph_prefetch import Report

RUNS, ROUNDS = 300, 10
# Of few runs, each late effect of the first ones weighs much: a leak of one object a run would still be found.
LIMITS = {"objects": 1_000.0, "blocks": 6_000.0, "kilobytes": 15_000.0}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc"),
]


def _soaked(keeping: bool) -> tuple[list[Sample], Report]:
    """The samples of a soak; a ``keeping`` one holds one more thing for each event."""
    soak = Soak()
    assert soak.prefetch is not None
    kept: list[dict[str, object]] = []
    if keeping:
        soak.prefetch.subscribe(lambda event: kept.append({"event": event, "of": [event]}))
    return soaked(soak, RUNS, ROUNDS), soak.prefetch.report()


def _soaked_alone(*, keeping: bool) -> tuple[list[Sample], Report]:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(_soaked, keeping).result()


def test_three_hundred_runs_leave_nothing_behind() -> None:
    """Served, missed, cut off, dropped, cancelled and failed, with graphs of their own in between."""
    samples, report = _soaked_alone(keeping=False)
    assert broken_rules(samples, LIMITS) == []
    assert (report.troubles, report.unsettled) == (0, 0)
    assert report.served + report.misses == report.search_calls
    assert min(report.served, report.wasted, report.failed, report.cancelled) > 0


def test_a_leak_is_found() -> None:
    """Whoever keeps one thing a run is told so."""
    broken = broken_rules(_soaked_alone(keeping=True)[0], LIMITS)
    assert any(line.startswith("objects grew") for line in broken)
    assert any(line.startswith("blocks grew") for line in broken)


@functools.cache
def _first() -> Sample:
    return sample(Soak())


def _samples(**grows: int) -> list[Sample]:
    first = _first()
    zero = dict.fromkeys(("places", "queued", "lanes", "shared_entries", "resumable", "open_runs"), 0)
    names = {name: getattr(first, name) for name in Sample.__slots__} | zero
    return [
        Sample(**{**names, "runs": n * 100, **{k: names[k] + n * v for k, v in grows.items()}}) for n in range(1, 11)
    ]


@pytest.mark.parametrize("name", ["descriptors", "threads", "places", "queued", "lanes", "open_runs", "shared_entries"])
def test_one_more_of_anything_counted_is_found(name: str) -> None:
    """Each rule can fail, and by itself."""
    assert broken_rules(_samples(), LIMITS) == []
    (line,) = broken_rules(_samples(**{name: 1}), LIMITS)
    assert line.startswith(name)


def test_the_slope_is_that_of_a_line() -> None:
    """3 in 100 runs are 30 in 1,000, and the warm-up does not count."""
    line = _samples(objects=3)
    assert slope(line, "objects") == pytest.approx(30)
    assert slope(_samples(), "objects") == 0
    jump = [
        each if each.runs > 100 else Sample(**{n: getattr(each, n) for n in Sample.__slots__} | {"objects": 0})
        for each in _samples()
    ]
    assert broken_rules(jump, dict.fromkeys(LIMITS, 0.5)) == []
    assert [a.runs for a, _ in itertools.pairwise(line)] == [*range(100, 1_000, 100)]


@pytest.mark.parametrize("number", range(10))
def test_one_sample_far_off_hides_no_growth_and_makes_none(number: int) -> None:
    """What a thread still held when one sample was taken, wherever that is in the line."""
    for grows, measured in (0, 0), (3, 30):
        line = _samples(objects=grows)
        line[number] = dataclasses.replace(line[number], objects=line[number].objects + 1_000)
        assert slope(line, "objects") == pytest.approx(measured)
