"""Virtual time passes only when nothing is ready, and always in the same order."""

import asyncio
import threading
import time

import pytest

from langgraph_prefetch.evaluation import virtual_time
from langgraph_prefetch.evaluation.virtual_time import VirtualTimeLoop, run_virtually


def test_an_hour_passes_in_a_moment() -> None:
    """A sleep moves the loop's clock by exactly its length, and the wall's by nearly nothing."""

    async def main() -> float:
        await asyncio.sleep(3_600)
        return asyncio.get_running_loop().time()

    began = time.monotonic()
    assert run_virtually(main) == pytest.approx(3_600)
    assert time.monotonic() - began < 5


def test_timers_fire_in_the_order_of_their_times() -> None:
    """Whatever order tasks are made in, each wakes at its own time."""

    async def main() -> list[tuple[float, str]]:
        woken: list[tuple[float, str]] = []

        async def sleeper(name: str, seconds: float) -> None:
            await asyncio.sleep(seconds)
            woken.append((round(asyncio.get_running_loop().time(), 6), name))

        await asyncio.gather(sleeper("late", 2.5), sleeper("early", 0.25), sleeper("middle", 1.0))
        return woken

    expected = [(0.25, "early"), (1.0, "middle"), (2.5, "late")]
    assert run_virtually(main) == expected
    assert run_virtually(main) == expected


def test_timeouts_are_virtual_too() -> None:
    """`asyncio.timeout` counts the same seconds as `asyncio.sleep`."""

    async def main() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5):
                await asyncio.sleep(6)
        return asyncio.get_running_loop().time()

    assert run_virtually(main) == pytest.approx(5)


def test_time_stands_still_while_something_is_ready() -> None:
    """Callbacks that follow each other without a sleep all see one time, however they were handed in."""

    async def main() -> set[float]:
        loop = asyncio.get_running_loop()
        seen: set[float] = set()
        for _ in range(10):
            loop.call_soon_threadsafe(lambda: seen.add(loop.time()))
            await asyncio.sleep(0)
        return seen

    assert run_virtually(main) == {0.0}


def test_another_thread_can_wake_the_loop() -> None:
    """A loop with nothing to do waits for threads, without moving its clock."""

    async def main() -> float:
        loop = asyncio.get_running_loop()
        woken = asyncio.Event()
        timer = threading.Timer(0.02, lambda: loop.call_soon_threadsafe(woken.set))
        timer.start()
        await woken.wait()
        timer.join()
        return loop.time()

    assert run_virtually(main) == 0.0


def test_a_loop_that_waits_for_nothing_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wait that nobody can end is an error, not a hang."""
    monkeypatch.setattr(virtual_time, "STUCK_SECONDS", 0.01)
    loop = VirtualTimeLoop()
    never = loop.create_future()
    with pytest.raises(RuntimeError, match="stands still"):
        loop.run_until_complete(never)
    never.cancel()
    loop.close()
