"""A component in a process of its own: an HTTP server that takes a stated time for each answer, many at once.

It answers with its port, so that whoever asks can tell who answered.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Sequence
from typing import Any

import httpx
from langchain_core.runnables import Runnable, RunnableLambda

from langgraph_prefetch.serving.warmup import ServerProcess

CODE = """
import asyncio, contextlib, os, socket, sys
seconds, name = float(sys.argv[2]), sys.argv[1].encode()
async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\\r\\n\\r\\n")
            if b"GET /ready" not in head:
                await asyncio.sleep(seconds)
            writer.write(b"HTTP/1.1 200 OK\\r\\ncontent-length: %d\\r\\n\\r\\n%s" % (len(name), name))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()
def tell_ready():
    with contextlib.suppress(KeyError, OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
        out.sendto(b"READY=1", os.environ["NOTIFY_SOCKET"])
async def main():
    async with await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]), backlog=1024) as server:
        tell_ready()
        await server.serve_forever()
asyncio.run(main())
"""


class Served:
    """A server process, and a runnable that asks it. ``start`` runs before it serves, with ``arguments`` as `given`."""

    def __init__(
        self, name: str, seconds: float, *, start: str = "", arguments: Sequence[str] = (), told: bool = True
    ) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            self.port = taken.getsockname()[1]
        self.name, self.url = name, f"http://127.0.0.1:{self.port}"
        code = f"import sys\ngiven = sys.argv[3:]\n{start}{CODE}" if start else CODE
        command = [sys.executable, "-c", code, str(self.port), str(seconds), *arguments]
        self.process = ServerProcess(name, command, None if told else f"{self.url}/ready")

    def asked_by(self, client: httpx.AsyncClient) -> Runnable[Any, Any]:
        """A component that answers with what the process says."""

        async def ask(given: object) -> str:
            answer = await client.get(f"{self.url}/answer")
            answer.raise_for_status()
            return answer.text

        return RunnableLambda(ask, name=self.name)


def client() -> httpx.AsyncClient:
    """Enough connections for every part."""
    return httpx.AsyncClient(limits=httpx.Limits(max_connections=400, max_keepalive_connections=400), timeout=5.0)
