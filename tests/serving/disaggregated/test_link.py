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
