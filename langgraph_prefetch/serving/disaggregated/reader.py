"""Large blobs over several paths at once: straight from storage, and through peers that have links of their own.

Reading one blob from both sides is what arXiv 2602.21548 leaves to future work; here every part of it takes the path
that `choose_path` says, when it is its turn.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from math import inf
from types import TracebackType
from typing import Self

from langgraph_prefetch.errors import BlobMismatchError, ConfigurationError, PathsFailedError, UnknownBlobError
from langgraph_prefetch.errors.serving import ShortReadError
from langgraph_prefetch.serving.disaggregated.choice import GATES, Gates, PathLoad, choose_path
from langgraph_prefetch.serving.disaggregated.ranges import RangeSource, checked_key


@dataclass(frozen=True, kw_only=True)
class ReadPath:
    """A way to the blobs.

    Attributes:
        name: unique; for errors and counts.
        source: reads ranges.
        bytes_per_second: of its storage link; only how paths compare matters.

    Raises:
        ConfigurationError: a rate that is no finite number above 0.
    """

    name: str
    source: RangeSource
    bytes_per_second: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.bytes_per_second < inf:
            raise ConfigurationError(f"path {self.name!r}: bytes_per_second must be finite and above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class PathCount:
    """What a path has carried so far."""

    name: str
    bytes_read: int
    failures: int


@dataclass(slots=True, kw_only=True)
class _Path:
    path: ReadPath
    demand: int = 0
    speculative: int = 0
    demanded: int = 0
    failed_at: float = inf
    bytes_read: int = 0
    failures: int = 0

    @property
    def load(self) -> PathLoad:
        return PathLoad(
            name=self.path.name,
            read_queue=self.demanded,  # speculation gives way on every link, so that it is no queue for demand
            unfinished=self.demanded,
            read_rate=self.path.bytes_per_second,
        )


@dataclass(slots=True, kw_only=True)
class _Part:
    key: str
    start: int
    stop: int
    speculative: bool
    done: asyncio.Future[bytes]
    failed: dict[str, str] = field(default_factory=dict)


class TwoPathReader:
    """Reads blobs in parts, each over the path with the shortest read queue. An async context manager.

    Demand goes first: a speculative part begins only where no part of demand waits, and over a path that carries none.
    A path that fails gets nothing for ``retry_seconds``, and its parts go over another. Speculation that takes too long
    says nothing of its path: it may only have waited for demand. A reader belongs to one event loop.

    Args:
        paths: two or more; one works, and gains nothing.
        part_bytes: read in one request.
        in_flight: parts of demand under way on a path; of speculation there is one.
        max_blob_bytes: larger blobs are refused.
        max_reads: blobs of demand read at once, more wait; of speculation half as many, at least one.
        retry_seconds: how long a path that failed is left alone.
        timeout_seconds: for one part.
        gates: see `choose_path`.
        clock: seconds, monotonic.

    Raises:
        ConfigurationError: no paths, two of one name, or a number out of its range.
    """

    def __init__(
        self,
        paths: Sequence[ReadPath],
        *,
        part_bytes: int = 262_144,
        in_flight: int = 2,
        max_blob_bytes: int = 2**30,
        max_reads: int = 8,
        retry_seconds: float = 5.0,
        timeout_seconds: float = 30.0,
        gates: Gates = GATES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not paths or len({path.name for path in paths}) < len(paths):
            raise ConfigurationError("a reader needs paths, each with a name of its own")
        counts, times = (part_bytes, in_flight, max_blob_bytes, max_reads), (retry_seconds, timeout_seconds)
        if not (all(each >= 1 for each in counts) and all(each > 0 for each in times)):
            raise ConfigurationError("sizes and counts start at 1, and times are above 0")
        self._paths = {path.name: _Path(path=path) for path in paths}
        self._part_bytes, self._in_flight, self._max_blob_bytes = part_bytes, in_flight, max_blob_bytes
        self._demand, self._guesses = asyncio.Semaphore(max_reads), asyncio.Semaphore(max(1, max_reads // 2))
        self._retry_seconds, self._timeout_seconds = retry_seconds, timeout_seconds
        self._gates, self._clock = gates, clock
        self._waiting: list[tuple[bool, int, _Part]] = []
        self._numbers = count()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def counts(self) -> tuple[PathCount, ...]:
        """What each path has carried."""
        return tuple(
            PathCount(name=name, bytes_read=path.bytes_read, failures=path.failures)
            for name, path in self._paths.items()
        )

    async def read(self, key: str, *, sha256: str | None = None, speculative: bool = False) -> bytes:
        """A whole blob.

        Args:
            key: of the blob.
            sha256: in hexadecimal, what it must hash to.
            speculative: nobody has asked for it yet; demand goes first.

        Raises:
            UnknownBlobError: there is none of this key.
            BlobMismatchError: it is not the one that was asked for.
            PathsFailedError: some part failed over every path.
            ConfigurationError: no key, or a blob larger than ``max_blob_bytes``.
        """
        async with self._guesses if speculative else self._demand:
            size = await self._size(checked_key(key))
            if size > self._max_blob_bytes:
                raise ConfigurationError(f"blob {key!r} has {size} bytes; max_blob_bytes={self._max_blob_bytes}")
            data = await self._parts(key, size, speculative)
        if sha256 is not None and (await asyncio.to_thread(_digest, data)) != sha256.lower():
            raise BlobMismatchError(key)
        return data

    async def aclose(self) -> None:
        """Stop what is under way; reads that wait for it are cancelled."""
        for _, _, part in self._waiting:
            part.done.cancel()
        self._waiting.clear()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _size(self, key: str) -> int:
        failed: dict[str, str] = {}
        while (path := self._path_for(failed, room=False)) is not None:
            try:
                return await asyncio.wait_for(path.path.source.size(key), self._timeout_seconds)
            except UnknownBlobError:
                raise
            except Exception as error:  # noqa: BLE001  a source is the caller's; whatever it raises, another is asked
                self._failed(path, failed, error)
        raise PathsFailedError(key, failed)

    async def _parts(self, key: str, size: int, speculative: bool) -> bytes:
        loop = asyncio.get_running_loop()
        parts = [
            _Part(key=key, start=at, stop=min(at + self._part_bytes, size), speculative=speculative, done=future)
            for at in range(0, size, self._part_bytes)
            for future in (loop.create_future(),)
        ]
        for part in parts:
            heappush(self._waiting, (speculative, next(self._numbers), part))
        self._pump()
        try:
            return b"".join(await asyncio.gather(*(part.done for part in parts)))
        finally:
            for part in parts:  # after one has failed, or the caller has gone, the others are of no use
                part.done.cancel()
            self._pump()

    def _pump(self) -> None:
        """Begin whatever can begin now."""
        while self._waiting:
            speculative, _, part = self._waiting[0]
            if part.done.done():
                heappop(self._waiting)
                continue
            path = self._path_for(part.failed, speculative=speculative)
            if path is None:
                return
            heappop(self._waiting)
            path.demanded += 0 if speculative else part.stop - part.start
            path.demand, path.speculative = path.demand + (not speculative), path.speculative + speculative
            task = asyncio.create_task(self._carry(part, path))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _path_for(self, failed: dict[str, str], *, room: bool = True, speculative: bool = False) -> _Path | None:
        untried = [path for name, path in self._paths.items() if name not in failed]
        now = self._clock()
        # One that is down is asked all the same, if there is no other: it may be back.
        working = [path for path in untried if not self._down(path, now)] or untried
        if room:
            working = [path for path in working if self._has_room(path, speculative)]
        chosen = choose_path([path.load for path in working], self._gates)
        return None if chosen is None else self._paths[chosen.name]

    def _down(self, path: _Path, now: float) -> bool:
        return path.failed_at <= now < path.failed_at + self._retry_seconds  # before: the clock went back

    def _has_room(self, path: _Path, speculative: bool) -> bool:
        if speculative:
            return path.demand == path.speculative == 0
        return path.demand < self._in_flight

    async def _carry(self, part: _Part, path: _Path) -> None:
        size = part.stop - part.start
        try:
            reading = path.path.source.read(part.key, part.start, part.stop, speculative=part.speculative)
            data = await asyncio.wait_for(reading, self._timeout_seconds)
            if len(data) != size:
                raise ShortReadError(part.key, f"{len(data)} bytes instead of {size}")
        except asyncio.CancelledError:
            part.done.cancel()
            raise
        except UnknownBlobError as error:
            _settle(part, error)
        except Exception as error:  # noqa: BLE001  a source is the caller's; whatever it raises, another is asked
            self._failed(path, part.failed, error, waited=part.speculative and isinstance(error, TimeoutError))
            if len(part.failed) == len(self._paths):
                _settle(part, PathsFailedError(part.key, part.failed))
            else:
                heappush(self._waiting, (part.speculative, next(self._numbers), part))
        else:
            path.bytes_read += size
            if not part.done.done():
                part.done.set_result(data)
        finally:
            path.demanded -= 0 if part.speculative else size
            path.demand, path.speculative = path.demand - (not part.speculative), path.speculative - part.speculative
            self._pump()

    def _failed(self, path: _Path, failed: dict[str, str], error: Exception, *, waited: bool = False) -> None:
        path.failures += 1
        if not waited:
            path.failed_at = self._clock()
        failed[path.path.name] = type(error).__name__


def _settle(part: _Part, error: Exception) -> None:
    if not part.done.done():
        part.done.set_exception(error)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
