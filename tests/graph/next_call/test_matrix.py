"""Verified serving shows what the bare graph shows, whatever the graph and however it is called."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from langgraph_prefetch import Prefetcher, Report
from tests.graph.cases.rigs import until
from tests.graph.matrix.compare import assert_same
from tests.graph.matrix.kinds import World
from tests.graph.matrix.styles import CORE, STYLES
from tests.graph.next_call.rigs import KINDS, SIDE_BY_SIDE, changing, repeating

SOME = ("agent", "drawn", "watched")
MORE = ("batch", "abatch", "stream-messages", "astream_events-v1", "astream_events-v3", "broken-off", "abroken-off")
CASES = [
    *itertools.product(("agent",), STYLES),
    *itertools.product(("drawn",), (*CORE, *MORE)),
    *itertools.product([kind for kind in KINDS if kind not in ("agent", "drawn")], CORE),
]


def shown(kind: str, style: str, world: Callable[[], World], *, left_to_chance: bool = False) -> Report:
    """Compare bare and prefetched; the report once all has stopped."""
    seen: list[Prefetcher] = []
    assert_same(
        KINDS[kind].bare,
        lambda made: KINDS[kind].wrapped(made, seen),
        STYLES[style],
        world,
        left_to_chance=left_to_chance,
    )
    (prefetch,) = seen
    until(lambda: prefetch.report().next_calls_unsettled == 0)
    report = prefetch.report()
    assert report.troubles == 0
    return report


@pytest.mark.parametrize(("kind", "style"), CASES)
def test_equal_results_are_adopted(kind: str, style: str) -> None:
    """The next call runs beside each search that comes again, and nothing shows it."""
    report = shown(kind, style, repeating)
    if STYLES[style].breaks_off:
        return
    runs = 2 if "batch" in style else 1
    assert report.next_calls == report.next_calls_adopted == 2 * runs


@pytest.mark.parametrize(("kind", "style"), [*itertools.product(SOME, CORE)])
def test_other_results_are_not(kind: str, style: str) -> None:
    """A call on wrong results is given up; the graph never sees what it was given or what it said."""
    report = shown(kind, style, changing)
    assert (report.next_calls, report.next_calls_adopted, report.next_calls_failed) == (2, 0, 0)
    assert report.next_calls_cancelled == 2
    assert report.wasted_input_tokens > 0


@pytest.mark.parametrize(("kind", "style"), [*itertools.product(("agent", "drawn"), CORE)])
def test_parallel_calls(kind: str, style: str) -> None:
    """Of several calls all have a guess, or have returned already, before the next model call starts."""
    report = shown(kind, style, lambda: repeating(SIDE_BY_SIDE), left_to_chance=True)
    assert report.next_calls == report.next_calls_adopted <= 1
    report = shown(kind, style, lambda: changing(SIDE_BY_SIDE), left_to_chance=True)
    assert report.next_calls_adopted == 0
