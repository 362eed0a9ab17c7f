"""The pools of a flow."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from langgraph_prefetch.errors import ConfigurationError, PoolClosedError
from langgraph_prefetch.events import Event, StagePressure, StageVisited, Trouble
from langgraph_prefetch.serving.flow.values import END, START, Edge, FlowValues, ServiceTime, Stage
from langgraph_prefetch.serving.pools import Pools
from langgraph_prefetch.serving.queueing.policies import EarliestDeadline

FLOW = FlowValues(
    name="two",
    stages=(
        Stage(name="search", resources={}, service=ServiceTime(mean=1.0)),
        Stage(name="write", resources={}, service=ServiceTime(mean=2.0), min_replicas=2, stateful=True),
    ),
    edges=(
        Edge(source=START, target="search", probability=1),
        Edge(source="search", target="write", probability=1),
        Edge(source="write", target=END, probability=1),
    ),
)


async def search(question: str) -> str:
    return question.upper()


async def write(found: str) -> str:
    return f"{found}!"


STAGES = {"search": search, "write": write}


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_a_request_goes_through_its_stages_and_teaches() -> None:
    """Its visits are told as events, and predictions follow what was measured."""
    events: list[Event] = []
    clock = Clock()

    async def slow(question: str) -> str:
        clock.now += 3.0
        return question

    async with Pools(FLOW, {**STAGES, "search": slow}, clock=clock, events=events.append) as pools:
        assert pools["write"].replicas == 2
        before = pools.estimates.service("search")
        for _ in range(30):
            async with pools.request(deadline_seconds=5.0) as request:
                found = await pools.visit("search", "why")
                assert await pools.visit("write", found) == "why!"
                assert [each.stage for each in request.visits] == ["search", "write"]
                assert request.deadline == request.arrived_at + 5.0
        assert before == pytest.approx(1.0)
        assert pools.estimates.service("search") == pytest.approx(3.0, abs=0.01)
    visited = [event for event in events if isinstance(event, StageVisited)]
    assert [(each.stage, each.visit) for each in visited[:2]] == [("search", 1), ("write", 2)]
    assert {each.service_seconds for each in visited if each.stage == "search"} == {3.0}


async def test_deadlines_decide_who_is_next() -> None:
    """The one that came later and is due earlier goes first."""
    order: list[str] = []
    free = asyncio.Event()

    async def once(name: str) -> str:
        order.append(name)
        await free.wait()
        return name

    async with Pools(FLOW, {**STAGES, "search": once}, policy=EarliestDeadline()) as pools:

        async def ask(name: str, seconds: float) -> None:
            async with pools.request(deadline_seconds=seconds):
                await pools.visit("search", name)

        async with asyncio.TaskGroup() as group:
            for name, seconds in (("a", 50.0), ("b", 40.0), ("c", 30.0)):
                group.create_task(ask(name, seconds))
                await asyncio.sleep(0)
            free.set()
    assert order == ["a", "c", "b"]


async def test_pressure_is_told_and_sizes_are_followed() -> None:
    """With what the processes use; a sizing that fails leaves all as it is."""
    events: list[Event] = []
    asked = asyncio.Event()

    class Sizing:
        calls = 0

        def sizes(self, pressures: Sequence[StagePressure], now: float) -> Mapping[str, int]:
            self.calls += 1
            if self.calls == 1:
                raise ValueError("secret")
            loop.call_soon_threadsafe(asked.set)
            assert [each.pool for each in pressures] == ["search", "write"]
            return {"search": 3, "elsewhere": 9}

    async def grown() -> None:
        while pools["search"].replicas != 3:  # noqa: ASYNC110 - a size is no event
            await asyncio.sleep(0.001)

    loop = asyncio.get_running_loop()
    async with Pools(FLOW, STAGES, sizing=Sizing(), every_seconds=0.01, events=events.append) as pools:
        await asked.wait()
        await asyncio.wait_for(grown(), 30)
    assert [event.error for event in events if isinstance(event, Trouble)] == ["ValueError"]
    pressures = [event for event in events if isinstance(event, StagePressure)]
    assert all(each.memory_bytes for each in pressures)
    assert any(each.cpu_share is not None for each in pressures)


async def test_draining_lets_begun_requests_go_through_all_their_stages() -> None:
    """And takes no new ones."""
    pools = Pools(FLOW, STAGES)
    async with pools:
        async with pools.request():
            draining = asyncio.create_task(pools.drain())
            await asyncio.sleep(0)
            with pytest.raises(PoolClosedError):
                async with pools.request():
                    pass
            assert await pools.visit("write", "x") == "x!"
            assert not draining.done()
        await draining


async def test_requests_return_to_the_instance_that_served_them_and_newcomers_stay_away_from_it() -> None:
    """Of a stateful stage that requests come back to: those who are expected back count as load."""
    edges = (
        Edge(source=START, target="write", probability=1),
        Edge(source="write", target="write", probability=0.5),
        Edge(source="write", target=END, probability=0.5),
    )
    made: list[object] = []

    class Writer:
        def __init__(self) -> None:
            made.append(self)

        async def __call__(self) -> int:
            return made.index(self)

    async with Pools(FlowValues(name="loop", stages=FLOW.stages[1:], edges=edges), {"write": Writer}) as pools:
        async with pools.request():
            mine = await pools.visit("write")
            for _ in range(3):
                async with pools.request():
                    assert await pools.visit("write") == 1 - mine, "nobody is expected back there"
            assert [await pools.visit("write") for _ in range(3)] == [mine] * 3
        async with pools.request():
            assert await pools.visit("write") == mine, "who has left the flow is expected nowhere"


async def test_stages_can_share_replicas() -> None:
    """As two prompts of one model do."""
    async with Pools(FLOW, STAGES, shared={"model": ("search", "write")}, replicas={"model": 4}) as pools:
        assert (pools["model"].replicas, pools["model"].stages) == (4, ("search", "write"))
        assert await pools.visit("search", "x") == "X"


async def test_what_is_wrong_is_named() -> None:
    """Before anything is opened."""
    with pytest.raises(ConfigurationError, match="nothing serves write"):
        Pools(FLOW, {"search": search})
    with pytest.raises(ConfigurationError, match=r"no stage or pool 'wrte'.*Did you mean 'write'"):
        Pools(FLOW, {**STAGES, "wrte": write})
    with pytest.raises(ConfigurationError, match="every_seconds"):
        Pools(FLOW, STAGES, every_seconds=0)
    pools = Pools(FLOW, STAGES)
    for seconds in (0.0, -1.0, float("nan")):
        with pytest.raises(ConfigurationError, match="a deadline lies ahead"):
            async with pools.request(deadline_seconds=seconds):
                pass
