"""Where ranges of blobs are read from: a directory, or HTTP, which may be storage or a peer that reads for us."""

from __future__ import annotations

import asyncio
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Protocol

from langgraph_prefetch.errors import ConfigurationError, MissingExtraError, UnknownBlobError
from langgraph_prefetch.errors.serving import ShortReadError
from langgraph_prefetch.serving.disaggregated.clients import OwnsClient
from langgraph_prefetch.serving.disaggregated.link import Link, Transfer

try:
    import httpx
except ImportError as error:
    raise MissingExtraError(error.name or "httpx", "serving") from error

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
            with self._link.transfer(speculative=speculative) as transfer:
                await transfer.pass_through(stop - start)
        data = await asyncio.to_thread(_read, self._directory / checked_key(key), start, stop)
        return _exact(data, key, stop - start)


class HttpRanges(OwnsClient):
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
        super().__init__(timeout=timeout_seconds, limits=limits)
        self._base_url, self._link = base_url.rstrip("/"), link

    async def size(self, key: str) -> int:
        """Bytes of a blob, by a HEAD request. Raises UnknownBlobError, httpx.HTTPError."""
        answer = await self._client.head(f"{self._base_url}/{checked_key(key)}")
        if answer.status_code == httpx.codes.NOT_FOUND:
            raise UnknownBlobError(key)
        answer.raise_for_status()
        return int(answer.headers["content-length"])

    async def read(self, key: str, start: int, stop: int, *, speculative: bool = False) -> bytes:
        """Exactly these bytes. Raises ShortReadError, UnknownBlobError, TimeoutError, httpx.HTTPError."""
        headers = {"range": f"bytes={start}-{stop - 1}", "accept-encoding": "identity"}
        if speculative:
            headers[CLASS_HEADER] = SPECULATIVE
        url = f"{self._base_url}/{checked_key(key)}"
        with self._link.transfer(speculative=speculative) if self._link else nullcontext() as transfer:
            try:
                async with self._client.stream("GET", url, headers=headers) as answer:
                    return await _body(answer, key, stop - start, transfer)
            except httpx.ReadTimeout as error:
                raise TimeoutError("no byte came in time") from error


async def _body(answer: httpx.Response, key: str, size: int, transfer: Transfer | None) -> bytes:
    if answer.status_code == httpx.codes.NOT_FOUND:
        raise UnknownBlobError(key)
    if answer.status_code != httpx.codes.PARTIAL_CONTENT:
        answer.raise_for_status()
        raise ShortReadError(key, "the server does not answer range requests")
    found = bytearray()
    async for piece in answer.aiter_raw():
        found += piece
        if len(found) > size:
            raise ShortReadError(key, "the server sent more than was asked for")
        if transfer is not None:
            await transfer.pass_through(len(piece))
    return _exact(bytes(found), key, size)


def _read(path: Path, start: int, stop: int) -> bytes:
    with path.open("rb") as file:
        file.seek(start)
        return file.read(stop - start)


def _exact(data: bytes, key: str, size: int) -> bytes:
    if len(data) != size:
        raise ShortReadError(key, f"{len(data)} bytes instead of {size}")
    return data
