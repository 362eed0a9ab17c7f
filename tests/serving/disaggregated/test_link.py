"""A link of limited speed, in time that is made up."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.serving.disaggregated.link import SLICE_BYTES, Link, TokenBucket


class Time:
    """Passes while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


@given(sizes=st.lists(st.integers(1, 5_000), min_size=1, max_size=30), gaps=st.lists(st.floats(0, 2), min_size=30))
def test_no_more_passes_than_the_rate_and_what_may_be_made_up(sizes: list[int], gaps: list[float]) -> None:
    """Over any stretch from its beginning."""
    bucket, now, passed = TokenBucket(rate=1_000.0, late_seconds=0.25, free_at=0.0), 0.0, 0
    for size, gap in zip(sizes, gaps, strict=False):
        now += gap + bucket.wait(now + gap)
        bucket.take(size, now)
        passed += size
        assert passed - size <= 1_000 * (now + 0.25) + 1e-6


async def test_a_transfer_takes_as_long_as_its_bytes() -> None:
    """And idle time before it is not made up for."""
    time = Time()
    link = Link(100_000.0, clock=time, sleep=time.sleep)
    time.now += 1_000
    begun = time.now
    with link.transfer() as transfer:
        await transfer.pass_through(200_000)
    assert time.now - begun == pytest.approx((200_000 - 200_000 % SLICE_BYTES) / 100_000, rel=0.01)


async def test_demand_passes_speculation_within_a_slice() -> None:
    """A transfer that began first, of a lower class, is overtaken."""
    time, order = Time(), list[str]()
    link = Link(1e6, clock=time, sleep=time.sleep)

    async def carry(name: str, size: int, speculative: bool) -> None:
        with link.transfer(speculative=speculative) as transfer:
            await transfer.pass_through(size)
            order.append(name)

    guess = asyncio.create_task(carry("guess", 400_000, True))
    await asyncio.sleep(0)
    await asyncio.gather(guess, carry("first", 50_000, False), carry("second", 50_000, False))
    assert order == ["first", "second", "guess"]


@pytest.mark.parametrize("rate", [5e5, 5e6, 5e7])
async def test_demand_takes_as_long_beside_speculation_as_alone(rate: float) -> None:
    """But for one piece of speculation at most, however many of its bytes wait, and however fast the link is."""
    time = Time()
    link = Link(rate, clock=time, sleep=time.sleep)

    async def guess() -> None:
        with link.transfer(speculative=True) as transfer:
            await transfer.pass_through(10**9)

    guessing = asyncio.create_task(guess())
    await asyncio.sleep(0)
    begun = time.now
    with link.transfer() as transfer:
        for _ in range(20):  # as pieces of an answer come
            await transfer.pass_through(5 * SLICE_BYTES)
    alone = 100 * SLICE_BYTES / rate
    assert time.now - begun <= alone + link.speculative_slice / rate + 1e-9
    guessing.cancel()
    await asyncio.gather(guessing, return_exceptions=True)


async def test_of_one_class_whoever_began_first_goes_first() -> None:
    """A short transfer does not overtake a long one that began before."""
    time, order = Time(), list[str]()
    link = Link(1e6, clock=time, sleep=time.sleep)

    async def carry(name: str, size: int) -> None:
        with link.transfer() as transfer:
            await transfer.pass_through(size)
            order.append(name)

    await asyncio.gather(carry("long", 20 * SLICE_BYTES), carry("short", 2 * SLICE_BYTES))
    assert order == ["long", "short"]


async def test_a_busy_link_makes_up_for_late_wake_ups_and_an_idle_one_does_not() -> None:
    """An event loop wakes up late each time; what was not asked for in time is lost."""
    time = Time()

    async def late(seconds: float) -> None:
        await time.sleep(seconds + 0.001)

    link = Link(1e6, clock=time, sleep=late)
    for _ in range(2):
        time.now += 1_000
        begun = time.now
        with link.transfer():  # keeps it busy
            for _ in range(100):
                with link.transfer() as transfer:
                    await transfer.pass_through(SLICE_BYTES)
        assert time.now - begun == pytest.approx(99 * SLICE_BYTES / 1e6, rel=0.01)


async def test_a_clock_that_jumps_back_stops_no_link() -> None:
    """The next bytes wait for those before them, and not for the hour to come again."""
    time = Time()
    link = Link(1e6, clock=time, sleep=time.sleep)
    for jump in (0, -3_600):
        time.now += jump
        begun = time.now
        with link.transfer() as transfer:
            await transfer.pass_through(100 * SLICE_BYTES)
        assert time.now - begun <= 100 * SLICE_BYTES / 1e6 + 1e-6


async def test_whoever_gives_up_its_turn_passes_it_on() -> None:
    """A cancelled transfer does not stop the link."""
    time = Time()
    link = Link(1e6, clock=time, sleep=time.sleep)

    async def carry() -> None:
        with link.transfer() as transfer:
            await transfer.pass_through(100_000)

    tasks = [asyncio.create_task(carry()) for _ in range(4)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    tasks[2].cancel()
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(each) for each in ended] == [asyncio.CancelledError, type(None), asyncio.CancelledError, type(None)]


@pytest.mark.parametrize("rate", [0.0, -1.0, float("inf"), float("nan")])
def test_a_link_has_a_rate(rate: float) -> None:
    """A finite one, above 0."""
    with pytest.raises(ConfigurationError):
        Link(rate)
