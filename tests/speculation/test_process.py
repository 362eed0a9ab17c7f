"""A process ends when it wants to, and can be forked, whatever speculates in it."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from langgraph_prefetch.config import PrefetchOptions
from langgraph_prefetch.prefetcher import PrefetchEngine, Run
from langgraph_prefetch.speculation.shared import process_wide
from langgraph_prefetch.testing.search import FunctionSearch, PlainCaller
from tests.speculation.rig import finish, seal

ROOT = Path(__file__).parents[2]

FIVE_LONG_SEARCHES = """
import asyncio, sys, time
from langgraph_prefetch.config import PrefetchOptions
from langgraph_prefetch.prefetcher import PrefetchEngine
from langgraph_prefetch.testing.search import FunctionSearch, PlainCaller
from langgraph_prefetch.values import ToolCallDelta

def search(query):
    time.sleep(30)

async def asearch(query):
    await asyncio.sleep(30)

def speculate(loop):
    engine = PrefetchEngine(PrefetchOptions())
    engine.tools["search"] = FunctionSearch(asearch if FORM != "sync" else search, loop=loop)
    run = engine.open_run()
    run.begin_step("model call")
    for number in range(5):
        delta = ToolCallDelta(index=number, call_id=str(number), name="search", arguments='{"query": "%d"}' % number)
        run.hear("model call", [delta], PlainCaller)
    return engine, run

def wait(engine):
    until = time.monotonic() + 10
    while len(engine.tools["search"].asked) < 5 and time.monotonic() < until:
        time.sleep(0.01)
    assert len(engine.tools["search"].asked) == 5
"""

ENDINGS = {
    "sync": "held = speculate(None); wait(held[0])",
    "async": "held = speculate(None); wait(held[0])",
    "on the caller's loop": """
async def main():
    global held
    held = speculate(asyncio.get_running_loop())
    while len(held[0].tools["search"].asked) < 5:
        await asyncio.sleep(0.01)
asyncio.run(main())
""",
}


def run_script(text: str) -> tuple[subprocess.CompletedProcess[str], float]:
    """What the script's end took, in seconds after it printed that it is done, and what it said."""
    text += "\nprint(time.time(), flush=True)\n"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=50, env=environment
    )
    return done, time.time() - float(done.stdout or "nan")


@pytest.mark.parametrize("form", ENDINGS)
def test_a_script_ends_at_once_and_quietly(form: str) -> None:
    """With five searches of 30 seconds under way the process ends long before them, without a word."""
    done, seconds = run_script(f"FORM = {form!r}\n{FIVE_LONG_SEARCHES}\n{ENDINGS[form]}")
    assert (done.returncode, done.stderr) == (0, "")
    assert seconds < 10


def test_a_script_that_fails_says_only_why() -> None:
    """An exit code of the agent's own is kept, and nothing of ours is added."""
    ending = f"{ENDINGS['sync']}\nprint(time.time(), flush=True)\nraise SystemExit(7)"
    failed, _ = run_script(f"FORM = 'sync'\n{FIVE_LONG_SEARCHES}\n{ending}")
    assert (failed.returncode, failed.stderr) == (7, "")


def in_child(work: str) -> None:
    """Fork, run the function of that name in the child, and expect it to end well within ten seconds."""
    child = os.fork()
    if child == 0:
        try:
            globals()[work]()
        except BaseException as error:  # noqa: BLE001 - told by the exit code
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(1)
        os._exit(0)
    ends = time.monotonic() + 10
    while time.monotonic() < ends:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the child hangs")


engine: PrefetchEngine
parents_run: Run
go: threading.Event


def answer_a_call_in_the_child() -> None:
    run = engine.open_run()
    seal(run, "b")
    assert finish(engine, run, "b") == "found b"
    assert engine.report().served == 1
    engine.close()


def wait_for_the_parents_search() -> None:
    tool = engine.tools["search"]
    call = parents_run.call(tool, {"query": "a"}, None, PlainCaller())
    assert call is not None
    began = time.monotonic()
    assert call.answer() is None  # cancelled: its thread stayed with the parent
    assert time.monotonic() - began < 5


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_forking_with_work_in_flight() -> None:
    """The child speculates on its own and waits for nothing of its parent's; the parent's work goes on."""
    global engine, go, parents_run
    go = threading.Event()

    def search(query: str) -> str:
        if query == "a":
            go.wait(30)
        return f"found {query}"

    engine = PrefetchEngine(PrefetchOptions())
    engine.tools["search"] = FunctionSearch(search)
    parents_run = engine.open_run()
    seal(parents_run, "a")
    parents_run.catch_up()
    assert process_wide().executor.running == 1
    in_child("answer_a_call_in_the_child")
    in_child("wait_for_the_parents_search")
    go.set()
    assert finish(engine, parents_run, "a") == "found a"
    engine.close()


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_lock_that_another_thread_holds() -> None:
    """At the moment of the fork a thread is inside every lock there is; the child works all the same."""
    global engine
    engine = PrefetchEngine(PrefetchOptions(scope=lambda _: "all"))
    engine.tools["search"] = FunctionSearch(lambda query: f"found {query}")
    shared = engine.shared
    parts = (engine, engine.events, engine._runs, engine._tally, shared.ledger, shared.cache, shared.resumable)
    held, go = threading.Event(), threading.Event()

    def hold() -> None:
        with ExitStack() as stack:
            for part in parts:
                stack.enter_context(part._lock)
            held.set()
            go.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(10)
    try:
        in_child("answer_a_call_in_the_child")
    finally:
        go.set()
        holder.join()


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_forking_a_busy_process() -> None:
    """Forked again and again while other threads speculate, no child finds a lock that nobody gives back."""
    global engine
    engine = PrefetchEngine(PrefetchOptions())
    engine.tools["search"] = FunctionSearch(lambda query: f"found {query}")
    stop = threading.Event()

    def speculate() -> None:
        while not stop.is_set():
            run = engine.open_run()
            seal(run, "x")
            finish(engine, run, "x")
            run.close()

    threads = [threading.Thread(target=speculate) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(15):
            in_child("answer_one_more_in_the_child")
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def answer_one_more_in_the_child() -> None:
    run = engine.open_run()
    seal(run, "b")
    assert finish(engine, run, "b") == "found b"
    run.close()
