"""The simulator agrees with what can be calculated."""

import pytest

from langgraph_prefetch.serving.flow.values import END, START, Edge, FlowValues, ServiceTime, Stage
from langgraph_prefetch.serving.queueing.expectations import expected
from langgraph_prefetch.serving.queueing.policies import FirstCome
from langgraph_prefetch.serving.simulator import poisson, simulate
from tests.serving.simulator.theory import mg1_wait, mmc_wait, single

COUNT = 12_000
WITHIN = 0.12
"""Waits of so many requests, which depend on each other, scatter by about 4 % around their mean at a load of 0.7."""


@pytest.mark.slow
@pytest.mark.parametrize(("variation", "servers"), [(1.0, 1), (0.0, 1), (0.5, 1), (1.0, 3)])
def test_waits_are_those_of_the_formulas(variation: float, servers: int) -> None:
    """M/M/1, M/D/1, M/G/1 with gamma times, and M/M/3."""
    rate = 0.7 * servers
    result = simulate(
        single(variation=variation),
        {"s": servers},
        poisson(rate, COUNT / rate, seed=5),
        FirstCome(),
        seed=5,
        max_waiting=10_000,
    )
    waited = mmc_wait(rate, 1.0, servers) if servers > 1 else mg1_wait(rate, 1.0, variation)
    (pool,) = result.pools
    assert pool.mean_waited_seconds == pytest.approx(waited, rel=WITHIN)
    assert pool.utilisation == pytest.approx(0.7, rel=0.03)
    assert result.throughput == pytest.approx(rate, rel=0.03)
    assert result.mean_seconds == pytest.approx(waited + 1.0, rel=WITHIN)


@pytest.mark.slow
def test_a_network_with_a_loop_and_amplification_is_one_of_jackson() -> None:
    """Visits are those of the flow's equations, and each stage waits as if it were alone (exponential times)."""
    flow = FlowValues(
        name="network",
        stages=(
            Stage(name="a", resources={}, service=ServiceTime(mean=0.5, variation=1.0)),
            Stage(name="b", resources={}, service=ServiceTime(mean=1.0, variation=1.0)),
        ),
        edges=(
            Edge(source=START, target="a", probability=1),
            Edge(source="a", target="b", probability=0.5),
            Edge(source="a", target=END, probability=0.5),
            Edge(source="b", target="a", probability=0.4),
            Edge(source="b", target=END, probability=0.6),
        ),
    )
    visits = expected(flow).visits
    result = simulate(flow, {"a": 1, "b": 1}, poisson(1.0, 8_000, seed=2), FirstCome(), seed=2, max_waiting=10_000)
    for pool, mean in zip(result.pools, (0.5, 1.0), strict=True):
        assert pool.visits / len(result.requests) == pytest.approx(visits[pool.name], rel=0.03)
        load = visits[pool.name] * mean
        assert pool.mean_waited_seconds == pytest.approx(load * mean / (1 - load), rel=0.15)


def test_amplification_multiplies_and_divides() -> None:
    """2.5 requests leave for each that enters, and of those a half goes no further."""
    flow = FlowValues(
        name="fan",
        stages=(
            Stage(name="split", resources={}, service=ServiceTime(mean=0.1), amplification=2.5),
            Stage(name="each", resources={}, service=ServiceTime(mean=0.1), amplification=0.5),
            Stage(name="last", resources={}, service=ServiceTime(mean=0.1)),
        ),
        edges=(
            Edge(source=START, target="split", probability=1),
            Edge(source="split", target="each", probability=1),
            Edge(source="each", target="last", probability=1),
            Edge(source="last", target=END, probability=1),
        ),
    )
    result = simulate(flow, {"split": 9, "each": 9, "last": 9}, poisson(2.0, 500, seed=1))
    count = len(result.requests)
    assert [pool.visits / count for pool in result.pools] == pytest.approx([1.0, 2.5, 1.25], rel=0.06)
    assert all(each.seconds >= 0.2 - 1e-9 for each in result.requests), "a request has ended when all branches have"
