"""Where ranges of blobs are read from: a directory, or HTTP, which may be storage or a peer that reads for us."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import httpx

from langgraph_prefetch.errors import ConfigurationError, UnknownBlobError
from langgraph_prefetch.errors.serving import ShortReadError
from langgraph_prefetch.serving.disaggregated.link import Link

CLASS_HEADER = "x-prefetch-class"
SPECULATIVE = "speculative"
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


def checked_key(key: str) -> str:
    """The key, if it names a blob and nothing else.

    Raises:
        ConfigurationError: it is no plain name of at most 200 letters, digits, dots, underscores and hyphens.
    """
    if not _KEY.fullmatch(key):
        raise ConfigurationError("a blob's key is a letter or digit and up to 199 letters, digits, '.', '_' or '-'")
    return key


class RangeSource(Protocol):
    """Blobs that can be read in parts."""

    async def size(self, key: str) -> int:
        """Bytes of a blob. Raises UnknownBlobError where there is none."""
        ...

    async def read(self, key: str, start: int, stop: int, *, speculative: bool = False) -> bytes:
        """Exactly the bytes from ``start`` up to ``stop``; any exception counts as a failure of this source."""
        ...


class FileRanges:
    """Blobs as the files of a directory, over a link if one is given."""

    def __init__(self, directory: Path, *, link: Link | None = None) -> None:
        self._directory, self._link = directory, link

    async def size(self, key: str) -> int:
        """Bytes of a file. Raises UnknownBlobError where there is none."""
        path = self._directory / checked_key(key)
        try:
            return (await asyncio.to_thread(path.stat)).st_size
        except FileNotFoundError:
            raise UnknownBlobError(key) from None

    async def read(self, key: str, start: int, stop: int, *, speculative: bool = False) -> bytes:
        """Exactly these bytes. Raises ShortReadError where the file ends before."""
        if self._link is not None:
            await self._link.pass_through(stop - start, speculative=speculative)
        data = await asyncio.to_thread(_read, self._directory / checked_key(key), start, stop)
        return _exact(data, key, stop - start)


class HttpRanges:
    """Blobs below an address that answers range requests. An async context manager.

    Args:
        base_url: the blobs' addresses begin with it.
        link: bounds what is read; demand passes first.
        timeout_seconds: without a byte.
        connections: at once.
    """

    def __init__(
        self, base_url: str, *, link: Link | None = None, timeout_seconds: float = 10.0, connections: int = 16
    ) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise ConfigurationError("base_url begins with http:// or https://")
        limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
        self._client = httpx.AsyncClient(timeout=timeout_seconds, limits=limits, trust_env=False)
        self._base_url, self._link = base_url.rstrip("/"), link

    async def size(self, key: str) -> int:
        """Bytes of a blob, by a HEAD request. Raises UnknownBlobError, httpx.HTTPError."""
        answer = await self._client.head(f"{self._base_url}/{checked_key(key)}")
        if answer.status_code == httpx.codes.NOT_FOUND:
            raise UnknownBlobError(key)
        answer.raise_for_status()
        return int(answer.headers["content-length"])

    async def read(self, key: str, start: int, stop: int, *, speculative: bool = False) -> bytes:
        """Exactly these bytes. Raises ShortReadError, UnknownBlobError, httpx.HTTPError."""
        headers = {"range": f"bytes={start}-{stop - 1}", "accept-encoding": "identity"}
        if speculative:
            headers[CLASS_HEADER] = SPECULATIVE
        found = bytearray()
        async with self._client.stream("GET", f"{self._base_url}/{checked_key(key)}", headers=headers) as answer:
            if answer.status_code == httpx.codes.NOT_FOUND:
                raise UnknownBlobError(key)
            if answer.status_code != httpx.codes.PARTIAL_CONTENT:
                answer.raise_for_status()
                raise ShortReadError(key, "the server does not answer range requests")
            async for piece in answer.aiter_raw():
                found += piece
                if len(found) > stop - start:
                    raise ShortReadError(key, "the server sent more than was asked for")
                if self._link is not None:
                    await self._link.pass_through(len(piece), speculative=speculative)
        return _exact(bytes(found), key, stop - start)

    async def aclose(self) -> None:
        """Close its connections."""
        await self._client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.aclose()


def _read(path: Path, start: int, stop: int) -> bytes:
    with path.open("rb") as file:
        file.seek(start)
        return file.read(stop - start)


def _exact(data: bytes, key: str, size: int) -> bytes:
    if len(data) != size:
        raise ShortReadError(key, f"{len(data)} bytes instead of {size}")
    return data
