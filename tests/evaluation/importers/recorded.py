"""Recordings made for real: a scripted agent runs, and what LangGraph and LangSmith say of it is written down."""

import asyncio
import json
import threading
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.load import dumpd
from langchain_core.tools import BaseTool, tool
from langchain_core.tracers import LangChainTracer
from langgraph.checkpoint.memory import InMemorySaver
from langsmith import Client

from langgraph_prefetch.evaluation.importers.values import TracedRun, TracedStep
from langgraph_prefetch.testing.models import Call, ReasoningShape, ScriptedChatModel, Turn
from langgraph_prefetch.values import ReasoningDelta, TextDelta

QUESTION = "Who wrote the first program, and who built the machine?"
THOUGHT = "I need to search Ada Lovelace and Charles Babbage before I can answer. "
TURNS = (
    Turn(
        reasoning=THOUGHT,
        calls=[Call("search", {"query": "Ada Lovelace"}), Call("search", {"query": "Charles Babbage"})],
    ),
    Turn(reasoning="Now the machine. ", calls=[Call("look_up", {"title": "Analytical Engine", "k": 3})]),
    Turn(text="Ada Lovelace, for the Analytical Engine."),
)
CALLS = (
    (("search", {"query": "Ada Lovelace"}), ("search", {"query": "Charles Babbage"})),
    (("look_up", {"title": "Analytical Engine", "k": 3}),),
    (),
)
TOOL_SECONDS = 0.01


@dataclass
class Agent:
    """A scripted agent that knows what its tools were really asked, and how long they really took."""

    shape: ReasoningShape = "text"
    turns: Sequence[Turn] = TURNS
    ran: list[tuple[str, Mapping[str, Any], float]] = field(default_factory=list)
    saver: InMemorySaver = field(default_factory=InMemorySaver)
    seconds_per_token: float = 0.0

    def graph(self) -> Any:
        model = ScriptedChatModel(script=self.turns, reasoning_as=self.shape, seconds_per_token=self.seconds_per_token)
        return create_agent(model, self.tools(), checkpointer=self.saver)

    def tools(self) -> list[BaseTool]:
        @tool
        async def search(query: str) -> str:
            """Search."""
            return await self._run("search", {"query": query}, f"passages about {query}")

        @tool
        async def look_up(title: str, k: int) -> str:
            """Look up."""
            return await self._run("look_up", {"title": title, "k": k}, f"page {title}")

        return [search, look_up]

    async def _run(self, name: str, arguments: Mapping[str, Any], result: str) -> str:
        began = time.time()
        await asyncio.sleep(TOOL_SECONDS)
        self.ran.append((name, arguments, time.time() - began))
        return result

    @staticmethod
    def asked(thread: str = "1") -> tuple[dict[str, Any], dict[str, Any]]:
        return {"messages": [("user", QUESTION)]}, {"configurable": {"thread_id": thread}}


async def _events_of(graph: Any, version: Any) -> list[tuple[float, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # v1 is deprecated, and still recorded
        return [(time.time(), event) async for event in graph.astream_events(*Agent.asked(), version=version)]


async def _chunks_of(agent: Agent) -> list[Any]:
    return [list(each) async for each in agent.graph().astream(*Agent.asked(), stream_mode="messages")]


async def _messages_of(agent: Agent, questions: int = 1) -> list[Any]:
    graph = agent.graph()
    for _ in range(questions):
        await graph.ainvoke(*Agent.asked())
    state = await graph.aget_state(Agent.asked()[1])
    return list(state.values["messages"])


@contextmanager
def collector() -> Iterator[tuple[Client, dict[str, dict[str, Any]]]]:
    """LangSmith's own client, and a server on this machine that keeps what it sends: runs by id."""
    runs: dict[str, dict[str, Any]] = {}

    class Handler(BaseHTTPRequestHandler):
        def _take(self) -> Any:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_response(200)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"{}")
            return json.loads(body)

        def do_POST(self) -> None:
            run = self._take()
            runs[run["id"]] = run

        def do_PATCH(self) -> None:
            run = self._take()
            runs[self.path.rpartition("/")[2]].update({name: each for name, each in run.items() if each is not None})

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}"
        yield Client(api_url=url, api_key="none", auto_batch_tracing=False, info={}), runs
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def _langsmith_of(agent: Agent, *, stream: bool) -> list[dict[str, Any]]:
    with collector() as (client, runs):
        tracer = LangChainTracer(client=client, project_name="tests")
        asked, config = Agent.asked()
        graph = agent.graph().with_config(callbacks=[tracer])
        if stream:
            async for _ in graph.astream(asked, config, stream_mode="messages"):
                pass
        else:
            await graph.ainvoke(asked, config)
        await asyncio.to_thread(tracer.wait_for_futures)
        return list(runs.values())


def events_of(agent: Agent, version: str) -> list[tuple[float, Any]]:
    """Every event of one run, with the moment at which it came."""
    return record_events(agent.graph(), version)


def record_events(graph: Any, version: str) -> list[tuple[float, Any]]:
    """The same of any graph."""
    return asyncio.run(_events_of(graph, version))


def chunks_of(agent: Agent) -> list[Any]:
    """All pairs of chunk and metadata of one run."""
    return asyncio.run(_chunks_of(agent))


def messages_of(agent: Agent, questions: int = 1) -> list[Any]:
    """What the checkpointer holds after some questions in one thread."""
    return asyncio.run(_messages_of(agent, questions))


def langsmith_of(agent: Agent, *, stream: bool) -> list[dict[str, Any]]:
    """The runs that LangSmith's tracer sends of one run of the agent."""
    return asyncio.run(_langsmith_of(agent, stream=stream))


def write_lines(path: Path, values: Sequence[Any]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in values), encoding="utf-8")
    return path


def dumped(values: Sequence[Any]) -> list[Any]:
    return [dumpd(each) for each in values]


def told(step: TracedStep) -> str:
    """Text and reasoning of a step."""
    return "".join(each.text for each in step.deltas if isinstance(each, TextDelta | ReasoningDelta))


def assert_true(run: TracedRun, agent: Agent, *, results: bool = True) -> None:
    """What was read is what the agent did: every message, every call with its arguments, every result."""
    assert run.question == QUESTION
    assert [told(step) for step in run.steps] == [
        THOUGHT,
        "Now the machine. ",
        "Ada Lovelace, for the Analytical Engine.",
    ]
    assert tuple(tuple((call.name, dict(call.arguments)) for call in step.calls) for step in run.steps) == CALLS
    if results:
        found = [call.result for step in run.steps for call in step.calls]
        assert found == ["passages about Ada Lovelace", "passages about Charles Babbage", "page Analytical Engine"]
    assert sorted((name, str(arguments)) for name, arguments, _ in agent.ran) == sorted(
        (name, str(arguments)) for step in CALLS for name, arguments in step
    )
