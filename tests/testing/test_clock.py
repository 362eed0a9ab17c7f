"""Clocks that tests move: by hand, or by jumping."""

import asyncio

import pytest

from langgraph_prefetch.testing.clock import FakeClock, HandDrivenLoop
from langgraph_prefetch.testing.models import ScriptedChatModel, Turn
from langgraph_prefetch.testing.virtual_time import run_virtually


def test_a_fake_clock_moves_when_told() -> None:
    """And never back."""
    clock = FakeClock(5.0)
    assert clock() == clock() == 5.0
    clock.pass_(0.5)
    assert clock() == 5.5
    with pytest.raises(ValueError, match="never goes back"):
        clock.pass_(-1)


def test_a_hand_driven_loop_follows_its_clock() -> None:
    """Timers fire when the clock has passed them and the loop is told to settle, and not before."""
    clock = FakeClock()
    loop = HandDrivenLoop(clock)
    sleeping = loop.create_task(asyncio.sleep(10, "slept"))
    loop.settle()
    clock.pass_(9.9)
    loop.settle()
    assert not sleeping.done()
    clock.pass_(0.1)
    assert not sleeping.done()
    loop.settle()
    assert sleeping.result() == "slept"
    loop.close()


def test_a_scripted_model_in_virtual_time() -> None:
    """A model that thinks for an hour is tested in no time."""

    async def think() -> float:
        began = asyncio.get_running_loop().time()
        model = ScriptedChatModel(script=[Turn(text="a b c d")], seconds_per_token=900, seconds_to_first_token=900)
        await model.ainvoke("q")
        return asyncio.get_running_loop().time() - began

    assert run_virtually(think) == pytest.approx(3_600)
