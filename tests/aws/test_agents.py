"""An agent whose searches run on workers: what it says is what it says without them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent

from langgraph_prefetch import with_prefetch
from langgraph_prefetch.aws import DynamoDBCache, SQSExecutor
from langgraph_prefetch.testing.local_aws import LocalAws
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn
from tests.aws import searching
from tests.aws.parts import PATIENCE, ROOT, Faults, Place, WorkerProcess, searched, until

QUESTION = {"messages": [("user", "How long is the Humber Bridge?")]}
NOBODY = LocalAws("http://127.0.0.1:9")


def agent_of(
    query: str = "Humber Bridge", tool: Any = searching.search, seconds: float = 0.0, thought: str | None = None
) -> Any:
    about = thought or query
    text = f"I need to search {about}, and then read what it says about the length, in metres, of its main span. " * 2
    script = [Turn(text, calls=[Call(tool.name, {"query": query})]), Turn(text="1,410 metres.")]
    return create_agent(ScriptedChatModel(script=script, seconds_per_token=seconds), [tool])


def texts(result: Any) -> list[Any]:
    return [(message.type, message.content, getattr(message, "artifact", None)) for message in result["messages"]]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("agents") / "searches.jsonl"


@pytest.fixture(scope="module")
def served(aws: LocalAws, log: Path) -> Iterator[Place]:
    """A queue and a table with one worker, for all tests of this module; each has queries of its own."""
    queue, dead = aws.make_queue()
    place = Place(aws, aws.make_table(), queue, dead)
    worker = WorkerProcess(place, log, retriever="tests.aws.searching:every", seconds=0.05).ready()
    yield place
    worker.kill()


def test_hit(served: Place, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The search runs in the worker alone, and the agent's messages are those of the bare agent."""
    bare = texts(agent_of("Humber").invoke(QUESTION))
    monkeypatch.setenv(searching.LOG, str(log))
    agent = with_prefetch(
        agent_of("Humber", seconds=0.03),
        tools=["search"],
        executor=served.executor(),
        cache=served.cache(lookup_seconds=PATIENCE),
        max_wait_seconds=PATIENCE,
    )
    assert texts(agent.invoke(QUESTION)) == bare
    assert agent.prefetch.report().served == 1
    assert len(searched(log, "Humber")) == 1
    assert os.getpid() not in searched(log)


async def test_an_asynchronous_agent(served: Place) -> None:
    """Nothing blocks its loop: the guard of the tests would raise."""
    bare = texts(await agent_of("async bridge", searching.documents).ainvoke(QUESTION))
    agent = with_prefetch(
        agent_of("async bridge", searching.documents, seconds=0.03),
        tools=["documents"],
        executor=served.executor(),
        cache=served.cache(lookup_seconds=PATIENCE),
        max_wait_seconds=PATIENCE,
    )
    assert texts(await agent.ainvoke(QUESTION)) == bare
    assert agent.prefetch.report().served == 1


def test_false_positive(served: Place, log: Path) -> None:
    """A thought that speaks of another search than the one that is made: the real one is answered."""
    agent = with_prefetch(
        agent_of("Forth Bridge", thought="Severn Bridge", seconds=0.02),
        tools=["search"],
        executor=served.executor(),
        cache=served.cache(),
    )
    assert texts(agent.invoke(QUESTION)) == texts(agent_of("Forth Bridge", thought="Severn Bridge").invoke(QUESTION))
    until(lambda: served.waiting(served.queue) == 0)


@pytest.mark.slow
def test_cold_start(place: Place, log: Path) -> None:
    """Without a worker the agent runs its own tool; one that starts later does not search for calls that were made."""
    query = "cold bridge"
    agent = with_prefetch(
        agent_of(query, seconds=0.01), tools=["search"], executor=place.executor(), cache=place.cache()
    )
    assert texts(agent.invoke(QUESTION)) == texts(agent_of(query).invoke(QUESTION))
    assert agent.prefetch.report().served == 0
    for each in (agent.prefetch.options.executor, agent.prefetch.options.cache):
        until(lambda each=each: each.connection.threads.unfinished == 0)  # type: ignore[misc]
    worker = WorkerProcess(place, log, retriever="tests.aws.searching:every", seconds=0).ready()
    until(lambda: place.waiting(place.queue) == 0)
    worker.kill()
    assert searched(log, query) == []


@pytest.mark.parametrize("down", ["queue", "table", "both", "throttled"])
def test_with_everything_down(place: Place, down: str) -> None:
    """The agent's messages are those of the bare agent, and nothing is raised."""
    executor, cache = place.executor(), place.cache()
    if down in ("queue", "both"):
        executor = SQSExecutor("http://127.0.0.1:9/queue", **NOBODY.reach())
    if down in ("table", "both"):
        cache = DynamoDBCache("results", **NOBODY.reach())
    if down == "throttled":
        Faults(cache.connection.client, "ProvisionedThroughputExceededException")
        Faults(executor.connection.client, "RequestThrottled")
    agent = with_prefetch(agent_of(f"{down} down", seconds=0.01), tools=["search"], executor=executor, cache=cache)
    bare = texts(agent_of(f"{down} down").invoke(QUESTION))
    for _ in range(4):
        assert texts(agent.invoke(QUESTION)) == bare


SCRIPT = """
import os, socket, sys, threading, time
sys.path.insert(0, {root!r})
from tests.aws.machine import Machine
from tests.aws import searching
from langgraph_prefetch.aws import DynamoDBCache, SQSExecutor
from langgraph_prefetch.testing.local_aws import LocalAws

silent = socket.create_server(("127.0.0.1", 0), backlog=64)
aws = LocalAws(f"http://127.0.0.1:{{silent.getsockname()[1]}}")
reach = aws.reach() | {{"read_seconds": 3600.0}}
executor, cache = SQSExecutor(aws.url + "/q", **reach), DynamoDBCache("t", **reach)
machine = Machine(searching.search, executor=executor, cache=cache)
run = machine.run()
for number in range(5):
    run.seal(f"never {{number}}")
time.sleep(0.2)
{more}
print("end", flush=True)
"""

FORK = """
pid = os.fork()
if pid == 0:
    again = machine.run()
    again.seal("in the child")
    time.sleep(0.1)
else:
    assert os.waitpid(pid, 0)[1] == 0
"""


@pytest.mark.slow
@pytest.mark.parametrize("more", ["", FORK], ids=["exit", "fork"])
def test_a_script_ends_at_once_and_quietly(more: str) -> None:
    """Searches under way in services that never answer do not hold the process, nor a forked child of it."""
    code = SCRIPT.format(root=str(ROOT), more=more)
    environment = os.environ | {"PYTHONWARNINGS": "ignore::DeprecationWarning"}
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert (set(output.split()), errors) == ({"end"}, "")
