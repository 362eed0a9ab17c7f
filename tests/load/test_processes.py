"""Servers fork, reload and are told to end while runs are in flight: each process serves, and leaves quietly."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# As a user's module: it wraps a graph when it is imported, and again when it is reloaded.
APP = """
import time
from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph_prefetch import with_prefetch
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn
from langgraph_prefetch.testing.script import turn_of

@tool
def search(query: str) -> str:
    '''Search for passages.'''
    time.sleep(0.03)
    return f"found {query}"

def said(messages):
    topic = str(messages[0].text)
    thought = f"I need to search {topic}, and then I will know more of it."
    return turn_of((Turn(text=thought, calls=[Call("search", {"query": topic})]), Turn(text="done")), messages)

agent = with_prefetch(create_agent(ScriptedChatModel(script=said, seconds_per_token=0.002), [search]), tools=["search"])

def ask(topic, agent=None):
    messages = (agent or globals()["agent"]).invoke({"messages": [("user", topic)]})["messages"]
    assert messages[2].content == f"found {topic}", messages
"""

LOAD = """
import threading
stop = threading.Event()
asked = []

def keep_asking(name, wrapped=None):
    number = 0
    while not stop.is_set():
        app.ask(f"Chapter {name} {number}", wrapped)
        number += 1
        asked.append(name)

def under_load(count, wrapped=None):
    threads = [threading.Thread(target=keep_asking, args=(n, wrapped), daemon=True) for n in range(count)]
    for thread in threads:
        thread.start()
    while len(asked) < 2 * count:
        time.sleep(0.005)
    return threads
"""

FORKS = """
import faulthandler, os, sys, time
import app
# LOAD
threads = under_load(3)
children = []
for number in range(4):
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(20, exit=True)   # a child that hangs says where, and ends
        try:
            before = app.agent.prefetch.report()
            for each in range(5):
                app.ask(f"Page {number} {each}")
            after = app.agent.prefetch.report()
            assert after.served > before.served, str(after)
            app.agent.prefetch.close()
        except BaseException as error:
            print(f"child {number}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    children.append(child)
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
stop.set()
for thread in threads:
    thread.join(20)
report = app.agent.prefetch.report()
assert report.troubles == report.unsettled == 0, str(report)
print(codes)
"""

RELOADS = """
import importlib, time
import app
# LOAD
old = app.agent
threads = under_load(3, old)
for number in range(5):
    module = importlib.reload(app)
    assert module.agent is not old
    for each in range(3):
        module.ask(f"Page {number} {each}")
    report = module.agent.prefetch.report()
    assert report.served > 0 and report.troubles == 0, str(report)
stop.set()
for thread in threads:
    thread.join(20)
assert not any(thread.is_alive() for thread in threads)
report = old.prefetch.report()
assert report.troubles == report.unsettled == 0 and report.served > 0, str(report)
ours = [thread.name for thread in threading.enumerate() if thread.name.startswith("langgraph-prefetch-")]
assert len(ours) == 3, ours     # however often it was wrapped: the loop, its post, and the reading
print("reloaded")
"""

ENDS = """
import signal, sys, time
import app
# LOAD
if GRACEFUL:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))    # as servers do
under_load(3)
print("ready", flush=True)
while True:
    time.sleep(0.1)
"""


def script(folder: Path, text: str) -> list[str]:
    (folder / "app.py").write_text(APP, encoding="utf-8")
    main = folder / "main.py"
    main.write_text(text.replace("# LOAD", LOAD), encoding="utf-8")
    # Forking with threads is what these servers do; Python 3.12 warns of it.
    return [sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning", str(main)]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


@contextmanager
def started(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A process in a session of its own; whatever of it is left afterwards is ended."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment(), start_new_session=True)
    try:
        yield process
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)  # its children too
        except ProcessLookupError:
            pass
        process.communicate()


def output_of(command: list[str]) -> tuple[int, str, str]:
    with started(command) as process:
        said, complained = process.communicate(timeout=50)
        return process.returncode, said.strip(), complained


@pytest.mark.slow
def test_workers_forked_under_load_serve(tmp_path: Path) -> None:
    """Loaded and busy in the parent, forked four times: each child serves from its own speculations, the parent too."""
    assert output_of(script(tmp_path, FORKS)) == (0, "[0, 0, 0, 0]", "")


@pytest.mark.slow
def test_reloading_under_load(tmp_path: Path) -> None:
    """The module wraps its graph anew while runs of the old one are in flight: both serve, and no thread is added."""
    assert output_of(script(tmp_path, RELOADS)) == (0, "reloaded", "")


@pytest.mark.slow
@pytest.mark.parametrize("graceful", [True, False], ids=["a handler that exits", "no handler"])
def test_told_to_end_under_load(tmp_path: Path, graceful: bool) -> None:
    """Soon, with the exit code of the server's own choice, and without a traceback."""
    with started(script(tmp_path, f"GRACEFUL = {graceful}\n{ENDS}")) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        _, complained = process.communicate(timeout=20)
        seconds = time.monotonic() - began
    assert (process.returncode, complained) == (0 if graceful else -signal.SIGTERM, "")
    assert seconds < 10
