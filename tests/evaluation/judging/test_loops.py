"""Judging from anywhere: a script, a notebook, a server under uvloop, and more than once in a process."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
import uvloop

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.evaluation.judging import Judging
from langgraph_prefetch.evaluation.judging.own_loop import in_own_loop
from langgraph_prefetch.evaluation.judging.stale import past_stale_connections
from langgraph_prefetch.testing.judge import JudgeServer
from tests.evaluation.judging.served import bridges, judge

ROOT = Path(__file__).parents[3]


# In processes of their own: connections that their loops leave behind are complained about when they are collected.
TWICE = """
import asyncio, sys
from langgraph_prefetch.evaluation.judging import Judging
from langgraph_prefetch.testing.judge import JudgeServer
from tests.evaluation.judging.served import bridges, judge

with JudgeServer(keep_alive=True) as server:
    for way in sys.argv[1:]:
        panel, before = Judging([judge(server)]), len(server.requests)
        sheet = panel.score(bridges(9)) if way == "called" else asyncio.run(panel.ascore(bridges(9)))
        print(sheet.coverage.scored, sheet.coverage.named_reasons())
        assert len(server.requests) - before <= sheet.spent.calls
"""


@pytest.mark.parametrize("ways", [["awaited"] * 3, ["called", "awaited", "called"]])
def test_more_than_once_in_one_process(ways: list[str]) -> None:
    """A client's pool holds connections of other loops, closed or idle: passed over, and counted as calls."""
    command = [sys.executable, "-c", TWICE, *ways]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=50)
    assert run.stdout.split() == ["9"] * 3, run.stdout + run.stderr


@pytest.mark.allow_blocking(reason="a notebook's cell blocks its own loop, and is meant to")
async def test_the_synchronous_way_inside_a_running_loop() -> None:
    """A notebook's cell runs on a loop that is running; the call works there, and patches nothing."""
    before = (asyncio.run, asyncio.get_running_loop().run_until_complete)
    with JudgeServer() as server:
        assert Judging([judge(server)]).score(bridges(3)).coverage.scored == 3
    assert before == (asyncio.run, asyncio.get_running_loop().run_until_complete)


async def test_awaited_on_the_callers_loop() -> None:
    """The loop goes on with other things meanwhile, and is blocked by nothing."""
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    with JudgeServer() as server:
        ticking = asyncio.create_task(tick())
        sheet = await Judging([judge(server)]).ascore(bridges(3))
        ticking.cancel()
    assert sheet.coverage.scored == 3
    assert ticks > 3


def test_under_uvloop() -> None:
    """Awaited inside a uvloop server, and from a thread of one without await."""

    async def both(server: JudgeServer) -> list[int]:
        awaited = await Judging([judge(server)]).ascore(bridges(3))
        called = await asyncio.to_thread(Judging([judge(server)]).score, bridges(4))
        return [awaited.coverage.scored, called.coverage.scored]

    with JudgeServer() as server:
        assert uvloop.run(both(server)) == [3, 4]


def test_waiting_for_oneself_is_refused() -> None:
    """On its own loop the synchronous way could only wait for itself, for ever."""

    async def inner() -> int:
        async def nothing() -> int:
            return 0

        return in_own_loop(nothing)

    with pytest.raises(ConfigurationError, match="the method that is awaited"):
        in_own_loop(inner)


async def test_only_a_closed_loop_is_a_reason_to_call_again() -> None:
    """Any other error is the judge's, and is paid for once."""
    calls = 0

    async def broken() -> None:
        nonlocal calls
        calls += 1
        raise RuntimeError("something else")

    with pytest.raises(RuntimeError, match="something else"):
        await past_stale_connections(broken, lambda: True)
    assert calls == 1


async def test_calling_again_ends() -> None:
    """A loop that is closed for good is an error in the end."""
    calls = 0

    async def closed() -> None:
        nonlocal calls
        calls += 1
        raise ConnectionError from RuntimeError("Event loop is closed")

    with pytest.raises(ConnectionError):
        await past_stale_connections(closed, lambda: True)
    assert calls == 65


async def test_calling_again_is_paid_for() -> None:
    """What went out on a stale connection may have been read: without budget for another call there is none."""
    calls = 0

    async def elsewhere() -> None:
        nonlocal calls
        calls += 1
        raise RuntimeError("<Event> is bound to a different event loop")

    budget = iter([True, True, False])
    with pytest.raises(RuntimeError, match="different event loop"):
        await past_stale_connections(elsewhere, lambda: next(budget))
    assert calls == 3


IMPORTED = """
import asyncio, sys
before = asyncio.run, asyncio.BaseEventLoop.run_until_complete, asyncio.Task
import langgraph_prefetch
import langgraph_prefetch.evaluation.judging
assert before == (asyncio.run, asyncio.BaseEventLoop.run_until_complete, asyncio.Task)
assert not {"ragas", "openevals", "openai", "nest_asyncio", "instructor"} & set(sys.modules), sorted(sys.modules)
"""


def test_the_core_imports_no_library_of_judges_and_patches_no_loop() -> None:
    """ragas takes seconds to import, and fails beside other libraries: only who asks for it meets it."""
    run = subprocess.run(
        [sys.executable, "-c", IMPORTED], cwd=ROOT, capture_output=True, text=True, check=False, timeout=50
    )
    assert run.returncode == 0, run.stderr
