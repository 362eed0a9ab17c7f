"""A wrapped graph behind AgentCore's runtime contract: HTTP on one port, ``/ping`` and ``/invocations``.

The contract is spoken by a few lines of the standard library, as a container would; whatever hosts the graph, all that
it does is call ``ainvoke`` or ``astream`` on an event loop of its own.
"""

import asyncio
import http.client
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver

from langgraph_prefetch import prefetcher_of, with_prefetch
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn, script_by_question
from langgraph_prefetch.testing.tools import CountingSearch

SESSION = "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id"


class Runtime(BaseHTTPRequestHandler):
    """The contract: JSON in, JSON or server-sent events out, a health check that says since when."""

    protocol_version = "HTTP/1.1"
    graph: Any
    loop: asyncio.AbstractEventLoop
    busy = 0
    changed = time.time()

    def do_GET(self) -> None:
        status = "HealthyBusy" if type(self).busy else "Healthy"
        self._send({"status": status, "time_of_last_update": int(type(self).changed)})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        config = {"configurable": {"thread_id": self.headers[SESSION]}}
        asked = {"messages": [("user", body["prompt"])]}
        if "text/event-stream" in (self.headers.get("accept") or ""):
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            asyncio.run_coroutine_threadsafe(self._events(asked, config), self.loop).result(30)
        else:
            state = asyncio.run_coroutine_threadsafe(self.graph.ainvoke(asked, config), self.loop).result(30)
            self._send({"result": state["messages"][-1].text, "messages": len(state["messages"])})

    async def _events(self, asked: Any, config: Any) -> None:
        async for message, _ in self.graph.astream(asked, config, stream_mode="messages"):
            self.wfile.write(b"data: %b\n\n" % json.dumps(message.text).encode())

    def _send(self, value: dict[str, Any]) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing on stderr."""


class Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True


def script(bridge: str) -> list[Turn]:
    thought = f"I need to search {bridge}, and then read the length of its main span, the one between the towers."
    return [Turn(thought, calls=[Call("search", {"query": bridge})]), Turn(text=f"{bridge} is long.")]


BRIDGES = [f"Bridge {letter}" for letter in "ABCDEFGH"]


@pytest.fixture
def hosted() -> Iterator[tuple[str, Any, CountingSearch]]:
    """The address of a wrapped graph in such a container, the graph, and its search."""
    counted = CountingSearch(style="both")
    model = ScriptedChatModel(
        script=script_by_question({f"How long is {each}?": script(each) for each in BRIDGES}), seconds_per_token=0.002
    )
    graph = with_prefetch(create_agent(model, [counted.tool], checkpointer=InMemorySaver()), ["search"])
    loop = asyncio.new_event_loop()
    runs = threading.Thread(target=loop.run_forever, daemon=True)
    runs.start()
    with Server(("127.0.0.1", 0), type("Hosting", (Runtime,), {"graph": graph, "loop": loop})) as server:
        serves = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        serves.start()
        yield f"127.0.0.1:{server.server_port}", graph, counted
        server.shutdown()
        serves.join()
    loop.call_soon_threadsafe(loop.stop)
    runs.join()
    loop.close()


def asks(address: str, bridge: str, **headers: str) -> tuple[str, str]:
    """The content type and the body of an answer."""
    connection = http.client.HTTPConnection(address, timeout=30)
    body = json.dumps({"prompt": f"How long is {bridge}?"})
    try:
        told = {"content-type": "application/json", SESSION: f"{bridge}-".ljust(40, "0"), **headers}
        connection.request("POST", "/invocations", body, told)
        answer = connection.getresponse()
        return answer.headers["content-type"], answer.read().decode()
    finally:
        connection.close()


def test_sessions_are_served_side_by_side(hosted: tuple[str, Any, CountingSearch]) -> None:
    """Every session is answered from its own thought, with one search each, and nothing is left behind."""
    address, graph, counted = hosted
    with ThreadPoolExecutor(8) as pool:
        answers = [json.loads(body) for _, body in pool.map(lambda bridge: asks(address, bridge), BRIDGES)]
    assert [answer["result"] for answer in answers] == [f"{bridge} is long." for bridge in BRIDGES]
    assert {answer["messages"] for answer in answers} == {4}
    assert sorted(counted.queries) == BRIDGES
    report = prefetcher_of(graph).report()
    assert (report.served, report.search_calls, report.unsettled, report.troubles) == (8, 8, 0, 0)


def test_a_stream_is_server_sent_events(hosted: tuple[str, Any, CountingSearch]) -> None:
    """Where the caller accepts them, tokens come as events, and the search is early as well."""
    address, graph, counted = hosted
    kind, body = asks(address, "Bridge A", accept="text/event-stream")
    pieces = [json.loads(line.removeprefix("data: ")) for line in body.splitlines() if line]
    assert kind == "text/event-stream"
    assert "".join(pieces).endswith("Bridge A is long.")
    assert (counted.queries, prefetcher_of(graph).report().served) == (["Bridge A"], 1)


def test_a_health_check_is_answered(hosted: tuple[str, Any, CountingSearch]) -> None:
    """``/ping`` has a status, and the time of its last change, which the platform needs to keep a busy one alive."""
    connection = http.client.HTTPConnection(hosted[0], timeout=30)
    connection.request("GET", "/ping")
    told = json.loads(connection.getresponse().read())
    connection.close()
    assert told["status"] == "Healthy"
    assert isinstance(told["time_of_last_update"], int)
