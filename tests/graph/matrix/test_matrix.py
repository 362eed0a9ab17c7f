"""A wrapped graph behaves as the bare one, whatever the graph and however it is called."""

from __future__ import annotations

import itertools

import pytest

from tests.graph.matrix.compare import compare
from tests.graph.matrix.kinds import KINDS, LEFT_TO_CHANCE
from tests.graph.matrix.styles import CORE, STYLES

IN_EVERY_STYLE = ("watched_agent", "drawn")


def _searches(kind: str) -> int:
    return {"parallel": 3, "parallel_drawn": 3, "fan_out": 3, "hand_over": 1, "return_direct": 1}.get(kind, 2)


CASES = [
    *itertools.product(IN_EVERY_STYLE, STYLES),
    *itertools.product([kind for kind in KINDS if kind not in IN_EVERY_STYLE], CORE),
]


@pytest.mark.parametrize(("kind", "style"), CASES)
def test_a_wrapped_graph_shows_what_the_bare_one_shows(kind: str, style: str) -> None:
    """Parts, the user's callbacks, middleware hooks and backend calls are equal, while every search is served."""
    report = compare(KINDS[kind], STYLES[style], left_to_chance=kind in LEFT_TO_CHANCE)

    if STYLES[style].breaks_off:
        return
    runs = 2 if "batch" in style else 1
    assert report.served == report.search_calls == runs * _searches(kind)
