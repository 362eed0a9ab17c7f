"""A component in a process of its own: an HTTP server that takes a stated time for each answer, many at once."""

from __future__ import annotations

import socket
import sys
from typing import Any

import httpx
from langchain_core.runnables import Runnable, RunnableLambda

from langgraph_prefetch.serving.warmup import ServerProcess

CODE = """
import asyncio, sys
seconds = float(sys.argv[2])
async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\\r\\n\\r\\n")
            if b"GET /ready" not in head:
                await asyncio.sleep(seconds)
            writer.write(b"HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\nok")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()
async def main():
    async with await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]), backlog=1024) as server:
        await server.serve_forever()
asyncio.run(main())
"""


class Served:
    """A server process, and a runnable that asks it."""

    def __init__(self, name: str, seconds: float, *, code: str = CODE, start_seconds: float = 120.0) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            port = taken.getsockname()[1]
        self.name, self.url = name, f"http://127.0.0.1:{port}"
        command = [sys.executable, "-c", code, str(port), str(seconds)]
        self.process = ServerProcess(name, command, f"{self.url}/ready", start_seconds=start_seconds)

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
