"""Streams in pieces, in simulated time."""

import pytest

from langgraph_prefetch.errors import SimulationError
from langgraph_prefetch.serving.granularity import Grain, Granularity
from langgraph_prefetch.serving.simulator.streams import StreamResult, Streams, simulate_streams


def played(load: float, grain: Grain, seconds: float = 30.0) -> StreamResult:
    """At a load of what the largest pieces allow."""
    streams = Streams(rate=load * Streams(rate=1.0).capacity(64))
    return simulate_streams(streams, Granularity(grain), seconds=seconds, seed=1)


SINGLE, ADAPTED = Grain(most=1), Grain()


def test_idle_nothing_is_held_back() -> None:
    """The first token is as early as token by token, and so are the others."""
    adapted, single = played(0.3, ADAPTED), played(0.3, SINGLE)
    assert adapted.first_seconds <= single.first_seconds * 1.02
    assert adapted.mean_piece < 1.2


def test_under_load_no_token_is_lost_to_small_pieces() -> None:
    """Single tokens keep up with half of them."""
    adapted, single, largest = (played(0.95, grain) for grain in (ADAPTED, SINGLE, Grain(least=64, hold_seconds=9.0)))
    assert adapted.throughput >= 0.99 * largest.throughput
    assert single.throughput < 0.7 * single.offered
    assert adapted.mean_piece > 4


def test_streams_that_cannot_be_simulated() -> None:
    """Each value is above 0."""
    for wrong in (Streams(rate=0.0), Streams(rate=1.0, tokens=0)):
        with pytest.raises(SimulationError):
            simulate_streams(wrong, Granularity(), seconds=1.0)
