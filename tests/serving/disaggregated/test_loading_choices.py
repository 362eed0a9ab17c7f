"""Who reads and who works in a simulated cluster, by cases small enough to follow."""

from collections.abc import Sequence
from dataclasses import replace

from langgraph_prefetch.serving.disaggregated.catalogue import HOPPER_NODE, MOE_27B
from langgraph_prefetch.serving.disaggregated.choice import Gates
from langgraph_prefetch.serving.disaggregated.cluster import BASIC, FULL, Cluster, Loading
from langgraph_prefetch.serving.disaggregated.hardware import NodeKind, Turn
from langgraph_prefetch.serving.disaggregated.loading import simulate_loading

ONE = replace(HOPPER_NODE, name="one GPU", gpus=1)
TWO = replace(HOPPER_NODE, name="two GPUs", gpus=2)
TURN = Turn(40_000, 400, 50)


def reads(prefill: Sequence[NodeKind], decode: Sequence[NodeKind], agents: int, turns: int, how: Loading) -> str:
    """How many caches each node read, as in ``P0 4, D0 2``; nodes that read none are left out."""
    cluster = Cluster(model=MOE_27B, prefill=prefill, decode=decode, longest=50_000)
    found = simulate_loading(cluster, [[TURN] * turns] * agents, how).reads
    return ", ".join(f"{node} {len(each)}" for node, each in found.items() if each)


def test_an_agent_alone_finds_every_queue_empty() -> None:
    """What was read once is no queue: the first engine works each time, and its own side reads."""
    assert reads([ONE, ONE], [ONE, ONE], 1, 6, FULL) == "P0 6"


def test_engines_take_turns_without_the_scheduler() -> None:
    """Each GPU as often as any other, also where nodes have unlike numbers of them."""
    assert reads([ONE, ONE], [ONE], 1, 6, BASIC) == "P0 3, P1 3"
    assert reads([TWO, ONE], [ONE], 1, 6, BASIC) == "P0 4, P1 2"


def test_what_has_been_decoded_is_no_load() -> None:
    """Two agents never need a third decode node; the second agent's cache comes over the other side's link."""
    found = reads([replace(ONE, storage_nic=1e9)], [ONE, ONE, ONE], 2, 6, FULL)
    assert "D" in found
    assert "D2" not in found


def test_an_engine_with_more_than_it_handles_in_time_gets_nothing() -> None:
    """With no time at all a second request waits until the first is computed, and nothing is read ahead of it."""
    slow = replace(ONE, storage_nic=10e9)
    cluster = Cluster(model=MOE_27B, prefill=(slow,), decode=(HOPPER_NODE,), longest=50_000)
    agents = [[TURN] * 5] * 40
    strict = Loading(two_paths=False, gates=Gates(overload_seconds=1e-9))
    usual = Loading(two_paths=False)
    busy = [
        simulate_loading(cluster, agents, each).utilisation["storage NIC of prefill nodes"] for each in (strict, usual)
    ]
    assert busy[0] < 0.8 < 0.99 < busy[1]
