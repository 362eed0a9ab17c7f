"""The least of HTTP: keep-alive connections to one server, and a server of one line. By itself, as processes import it.

A client library takes milliseconds of the processor for each call. Where what is measured takes a tenth of that, the
client would be what is measured.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

Answering = Callable[[str], Awaitable[str]]


class Lines:
    """Connections to one server, as many as there are calls at once. An async context manager."""

    def __init__(self, url: str, *, timeout_seconds: float = 5.0) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 80
        self._timeout = timeout_seconds
        self._free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        for _, writer in self._free:
            writer.close()

    async def get(self, path: str) -> str:
        """The body of the answer. Raises OSError where there is none, or another status than 200."""
        async with asyncio.timeout(self._timeout):
            reader, writer = await self._taken()
            try:
                writer.write(b"GET %s HTTP/1.1\r\nhost: here\r\n\r\n" % path.encode())
                head = await reader.readuntil(b"\r\n\r\n")
                size = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                body = (await reader.readexactly(size)).decode()
            except asyncio.IncompleteReadError as error:
                writer.close()
                raise ConnectionResetError("no answer") from error
            except BaseException:
                writer.close()
                raise
        self._free.append((reader, writer))
        if not head.startswith(b"HTTP/1.1 200"):
            raise ConnectionError(body)
        return body

    async def _taken(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        while self._free:
            reader, writer = self._free.pop()
            if not (reader.at_eof() or reader.exception() or writer.is_closing()):
                return reader, writer
            writer.close()  # the server went away meanwhile
        return await asyncio.open_connection(self._host, self._port)


async def serve(answer: Answering, *, host: str = "127.0.0.1", port: int = 0) -> asyncio.Server:
    """A server that answers every GET with what ``answer`` says of its path; an exception is a 503."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                try:
                    status, body = b"200 OK", (await answer(head.split(b" ", 2)[1].decode())).encode()
                except Exception as error:  # noqa: BLE001 - told to whoever asked
                    status, body = b"503 Unavailable", type(error).__name__.encode()
                writer.write(b"HTTP/1.1 %s\r\ncontent-length: %d\r\n\r\n%s" % (status, len(body), body))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    return await asyncio.start_server(talk, host, port, backlog=1024)
