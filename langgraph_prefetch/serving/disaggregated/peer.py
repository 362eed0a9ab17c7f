"""A worker that reads ranges of blobs for its peers, over HTTP on this machine."""

from __future__ import annotations

import asyncio
import ipaddress
import re
from contextlib import suppress
from types import TracebackType
from typing import Self

from cachetools import TTLCache

from langgraph_prefetch.errors import ConfigurationError, MissingExtraError, UnknownBlobError
from langgraph_prefetch.serving.disaggregated.ranges import CLASS_HEADER, SPECULATIVE, RangeSource

try:
    import h11
except ImportError as error:
    raise MissingExtraError(error.name or "h11", "serving") from error

MAX_RANGE_BYTES = 64 * 2**20
_RANGE = re.compile(rb"bytes=(\d{1,18})-(\d{1,18})")
_RECEIVE = 65_536
_SIZES, _SIZE_SECONDS = 1_024, 60.0
"""Sizes that are remembered: a cached blob of a key does not change, and one that does is a short read."""


class RangeServer:
    """Answers HEAD and ranged GET requests for ``/KEY`` from a source. An async context manager.

    With `FileRanges` it is a small storage; with `HttpRanges` and a link of its own it is a peer that reads for others.

    Args:
        source: where blobs come from.
        host: an address of this machine's loopback; there is neither a password nor encryption.
        port: 0 for any that is free.
        connections: at once; more wait in the listening socket's queue or are closed.
        idle_seconds: after which a silent connection is closed.

    Raises:
        ConfigurationError: an address that others could reach.
    """

    def __init__(
        self,
        source: RangeSource,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        connections: int = 64,
        idle_seconds: float = 30.0,
    ) -> None:
        if not ipaddress.ip_address(host).is_loopback:
            raise ConfigurationError(f"a RangeServer serves this machine only, and {host} is not its loopback")
        self._source, self._host, self._port = source, host, port
        self._room, self._idle_seconds = connections, idle_seconds
        self._sizes: TTLCache[str, int] = TTLCache(_SIZES, _SIZE_SECONDS)
        self._open: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        """Its address. Raises ConfigurationError before it serves."""
        if self._server is None:
            raise ConfigurationError("the server has no address before `async with`")
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, self._host, self._port)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or len(self._open) >= self._room:
            writer.close()
            return
        self._open.add(task)
        try:
            await self._talk(reader, writer)
        except (OSError, TimeoutError, h11.ProtocolError, asyncio.CancelledError):
            pass  # the other side went away, or we close
        finally:
            self._open.discard(task)
            writer.close()
            with suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        http = h11.Connection(h11.SERVER)
        while True:
            event = http.next_event()
            if event is h11.NEED_DATA:
                http.receive_data(await asyncio.wait_for(reader.read(_RECEIVE), self._idle_seconds))
            elif isinstance(event, h11.Request):
                status, headers, body = await self._answer(event)
                answer = http.send(h11.Response(status_code=status, headers=headers)) or b""
                if event.method != b"HEAD":
                    answer += http.send(h11.Data(data=body)) or b""
                writer.write(answer + (http.send(h11.EndOfMessage()) or b""))
                await writer.drain()
            elif isinstance(event, h11.ConnectionClosed):
                return
            elif event is h11.PAUSED:
                if http.our_state is not h11.DONE or http.their_state is not h11.DONE:
                    return
                http.start_next_cycle()

    async def _size(self, key: str) -> int:
        if key not in self._sizes:
            self._sizes[key] = await self._source.size(key)
        return self._sizes[key]

    async def _answer(self, request: h11.Request) -> tuple[int, list[tuple[str, str]], bytes]:
        headers = dict(request.headers)
        key = request.target.decode("ascii", "replace").lstrip("/")
        try:
            size = await self._size(key)
            if request.method == b"HEAD":
                return 200, [("content-length", str(size)), ("accept-ranges", "bytes")], b""
            asked = _RANGE.fullmatch(headers.get(b"range", b""))
            if request.method != b"GET" or asked is None:
                return _plain(400, "GET with one range, or HEAD")
            start, stop = int(asked[1]), min(int(asked[2]) + 1, size)
            if not 0 <= start < stop or stop - start > MAX_RANGE_BYTES:
                return _plain(416, "no such range")
            speculative = headers.get(CLASS_HEADER.encode()) == SPECULATIVE.encode()
            body = await self._source.read(key, start, stop, speculative=speculative)
        except (UnknownBlobError, ConfigurationError):
            return _plain(404, "no such blob")
        except Exception:  # noqa: BLE001  whatever a source raises, its peer is told, and reads another way
            return _plain(502, "the source failed")
        span = ("content-range", f"bytes {start}-{stop - 1}/{size}")
        return 206, [("content-length", str(len(body))), span], body


def _plain(status: int, text: str) -> tuple[int, list[tuple[str, str]], bytes]:
    return status, [("content-length", str(len(text))), ("content-type", "text/plain")], text.encode()
