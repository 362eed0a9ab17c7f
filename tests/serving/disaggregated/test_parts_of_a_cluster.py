"""Lines, memory and nodes of a simulated cluster, each by itself."""

from collections.abc import Generator

import pytest
import simpy

from langgraph_prefetch.serving.disaggregated.catalogue import HOPPER_NODE, MOE_27B
from langgraph_prefetch.serving.disaggregated.engines import Line, Memory, Node


def test_a_line_does_one_thing_after_the_other() -> None:
    """Rest is no work."""
    line = Line()
    assert line.pass_through(1.0, 2.0) == (1.0, 3.0)
    assert line.pass_through(1.5, 1.0) == (3.0, 4.0)
    assert line.pass_through(9.0, 1.0) == (9.0, 10.0)
    assert line.busy == 4.0


def test_memory_counts_what_is_held_over_time_and_lets_nobody_in_without_room() -> None:
    """60 of 100 for two seconds, then 80 for three: the second waits for the first."""
    env = simpy.Environment()
    memory, began = Memory(100.0, env), []

    def hold(tokens: float, seconds: float) -> Generator[simpy.Event, None, None]:
        yield from memory.take(tokens)
        began.append(float(env.now))
        yield env.timeout(seconds)
        memory.give_back(tokens)

    for tokens, seconds in ((60.0, 2.0), (80.0, 3.0)):
        env.process(hold(tokens, seconds))
    env.run()
    assert began == [0.0, 2.0]
    assert memory.used(10.0) == pytest.approx((60 * 2 + 80 * 3) / 10 / 100)
    assert (memory.fitting(99.0), memory.fitting(101.0)) == (99.0, 100.0)


def test_a_node_reads_as_many_tokens_as_its_nic_carries_bytes() -> None:
    """By the bytes of cache of the model's token."""
    node = Node("P0", HOPPER_NODE, MOE_27B)
    assert node.read_rate == pytest.approx(50e9 / (30 * 640))
