"""An agent whose searches run on workers: what it says is what it says without them."""

import os
from pathlib import Path
from typing import Any

from langchain.agents import create_agent

from langgraph_prefetch import with_prefetch
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn
from tests.aws import searching
from tests.aws.parts import Place, StartWorker, searched

QUESTION = {"messages": [("user", "How long is the Humber Bridge?")]}


def agent_of(query: str = "Humber Bridge", tool: Any = searching.search, seconds: float = 0.02) -> Any:
    thought = f"I need to search {query}, and then read what it says about the length, in metres, of the main span." * 2
    script = [Turn(thought, calls=[Call(tool.name, {"query": query})]), Turn(text="1,410 metres.")]
    return create_agent(ScriptedChatModel(script=script, seconds_per_token=seconds), [tool])


def texts(result: Any) -> list[Any]:
    return [(message.type, message.content, getattr(message, "artifact", None)) for message in result["messages"]]


def test_a_worker_searches_and_the_call_is_served(place: Place, start_worker: StartWorker, log: Path) -> None:
    """HIT: the search runs in the worker alone, and the agent's messages are those of the bare agent."""
    worker = start_worker(place).ready()
    bare = texts(agent_of().invoke(QUESTION))
    log.unlink()
    agent = with_prefetch(agent_of(), tools=["search"], executor=place.executor(), cache=place.cache())
    assert texts(agent.invoke(QUESTION)) == bare
    report = agent.prefetch.report()
    assert report.served == 1, report
    assert set(searched(log, "Humber Bridge")) == {worker.pid}
    assert os.getpid() not in searched(log)
    assert worker.stop() == 0
