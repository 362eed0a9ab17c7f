"""Blobs over several paths: real servers on loopback, bytes checked by hash, failures that go another way."""

import asyncio
import hashlib
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from langgraph_prefetch.errors import (
    BlobMismatchError,
    ConfigurationError,
    PathsFailedError,
    ShortReadError,
    UnknownBlobError,
)
from langgraph_prefetch.serving.disaggregated.link import Link
from langgraph_prefetch.serving.disaggregated.peer import RangeServer
from langgraph_prefetch.serving.disaggregated.ranges import FileRanges, HttpRanges
from langgraph_prefetch.serving.disaggregated.reader import ReadPath, TwoPathReader

BLOB = random.Random(5).randbytes(300_001)
DIGEST = hashlib.sha256(BLOB).hexdigest()


@pytest.fixture
def storage(tmp_path: Path) -> FileRanges:
    (tmp_path / "blob").write_bytes(BLOB)
    (tmp_path / "empty").write_bytes(b"")
    return FileRanges(tmp_path)


class Held:
    """A source whose reads wait until they are let go, or fail."""

    def __init__(self, size: int = len(BLOB), error: Exception | None = None) -> None:
        self.asked: list[tuple[int, bool]] = []
        self.size_of, self.error = size, error
        self.let_go = asyncio.Event()
        self.changed = asyncio.Condition()

    async def size(self, key: str) -> int:
        return self.size_of

    async def read(self, key: str, start: int, stop: int, *, speculative: bool = False) -> bytes:
        self.asked.append((start, speculative))
        async with self.changed:
            self.changed.notify_all()
        if self.error is not None:
            raise self.error
        await self.let_go.wait()
        return BLOB[start:stop]

    async def has_been_asked(self, times: int) -> None:
        async with self.changed:
            await self.changed.wait_for(lambda: len(self.asked) >= times)


class InMemory:
    """A source that answers at once, as it is told to."""

    def __init__(self, answer: Callable[[int, int], bytes] = lambda start, stop: BLOB[start:stop]) -> None:
        self.answer, self.reads = answer, 0

    async def size(self, key: str) -> int:
        return len(BLOB)

    async def read(self, key: str, start: int, stop: int, *, speculative: bool = False) -> bytes:
        self.reads += 1
        return self.answer(start, stop)


@asynccontextmanager
async def served(storage: FileRanges, peers: int) -> AsyncIterator[tuple[TwoPathReader, str, list[RangeServer]]]:
    """A storage server, peers in front of it, and a reader that knows them all."""
    async with AsyncExitStack() as stack:
        base = await stack.enter_async_context(RangeServer(storage))
        servers, paths = [], [("direct", base.url)]
        for number in range(peers):
            behind = await stack.enter_async_context(HttpRanges(base.url, link=Link(1e9)))
            servers.append(await stack.enter_async_context(RangeServer(behind)))
            paths.append((f"peer {number}", servers[-1].url))
        sources = [(name, await stack.enter_async_context(HttpRanges(url))) for name, url in paths]
        reader = TwoPathReader([ReadPath(name=name, source=source) for name, source in sources], part_bytes=20_000)
        yield await stack.enter_async_context(reader), base.url, servers


@pytest.mark.parametrize("peers", [0, 1, 2])
async def test_every_byte_comes_whatever_the_number_of_paths(storage: FileRanges, peers: int) -> None:
    """Checked by SHA-256; every path carries some, and together they carry the blob once."""
    async with served(storage, peers) as (reader, _, _):
        assert await reader.read("blob", sha256=DIGEST) == BLOB
        counts = reader.counts
    assert sum(each.bytes_read for each in counts) == len(BLOB)
    assert all(each.bytes_read for each in counts)


async def test_reads_at_once_do_not_mix(storage: FileRanges) -> None:
    """Demand and speculation, several of each."""
    async with served(storage, 1) as (reader, _, _):
        found = await asyncio.gather(*(reader.read("blob", sha256=DIGEST, speculative=n % 2 == 0) for n in range(6)))
        assert await reader.read("empty") == b""
    assert all(each == BLOB for each in found)


async def test_a_path_that_fails_is_left_and_the_other_reads_it_all(storage: FileRanges) -> None:
    """One failure is counted for each part that was under way there, and nothing more is sent there for a while."""
    broken = Held(error=OSError("no route"))
    now = 100.0
    paths = [ReadPath(name="broken", source=broken), ReadPath(name="direct", source=storage)]
    async with TwoPathReader(paths, part_bytes=20_000, clock=lambda: now, retry_seconds=5) as reader:
        assert await reader.read("blob", sha256=DIGEST) == BLOB
        asked = len(broken.asked)
        assert asked <= 2
        await reader.read("blob")
        assert len(broken.asked) == asked
        now += 5.1
        await reader.read("blob")
        assert len(broken.asked) > asked


async def test_a_peer_that_is_gone_costs_nothing_but_its_share(storage: FileRanges) -> None:
    """A closed port is a failing path."""
    async with RangeServer(storage) as server, HttpRanges(server.url) as gone:
        await server.__aexit__(None, None, None)
        paths = [ReadPath(name="gone", source=gone), ReadPath(name="direct", source=storage)]
        async with TwoPathReader(paths) as reader:
            assert await reader.read("blob", sha256=DIGEST) == BLOB


async def test_where_all_paths_fail_the_error_names_each() -> None:
    """With the kind of its failure, and without anything of what was read."""
    paths = [ReadPath(name=name, source=Held(error=error)) for name, error in (("a", OSError()), ("b", ValueError()))]
    async with TwoPathReader(paths) as reader:
        with pytest.raises(PathsFailedError, match=r"a: OSError, b: ValueError") as caught:
            await reader.read("blob")
    assert caught.value.reasons == {"a": "OSError", "b": "ValueError"}


@pytest.mark.parametrize("speculative", [False, True])
async def test_a_part_that_takes_too_long_goes_over_another_path(speculative: bool) -> None:
    """A path that hangs is a path that fails; but speculation may only have waited for demand on it."""
    hangs = Held()
    paths = [ReadPath(name="hangs", source=hangs), ReadPath(name="direct", source=InMemory())]
    async with TwoPathReader(paths, part_bytes=20_000, timeout_seconds=0.05, clock=lambda: 1.0) as reader:
        assert await reader.read("blob", sha256=DIGEST, speculative=speculative) == BLOB
        hangs.let_go.set()
        asked = len(hangs.asked)
        assert await reader.read("blob", sha256=DIGEST) == BLOB
        assert (len(hangs.asked) > asked) is speculative


@pytest.mark.parametrize("change", [lambda data: data[:-1], lambda data: data + b"x", lambda data: b""])
async def test_a_source_that_gives_more_or_less_than_was_asked_for_has_failed(change: Callable[[bytes], bytes]) -> None:
    """Whoever wrote it; no blob is put together from such parts."""
    wrong, right = InMemory(lambda start, stop: change(BLOB[start:stop])), InMemory()
    paths = [ReadPath(name="wrong", source=wrong), ReadPath(name="right", source=right)]
    async with TwoPathReader(paths, part_bytes=20_000) as reader:
        assert await reader.read("blob") == BLOB
        assert [(each.bytes_read, each.failures > 0) for each in reader.counts] == [(0, True), (len(BLOB), False)]
    async with TwoPathReader(paths[:1]) as reader:
        with pytest.raises(PathsFailedError, match="wrong: ShortReadError"):
            await reader.read("blob")


async def test_what_has_been_read_is_no_queue() -> None:
    """One blob after the other takes the first path each time; and what failed is none either."""
    first, second, now = InMemory(), InMemory(), 0.0
    paths = [ReadPath(name="first", source=first), ReadPath(name="second", source=second)]
    async with TwoPathReader(paths, part_bytes=len(BLOB), retry_seconds=5, clock=lambda: now) as reader:
        for _ in range(4):
            await reader.read("blob")
        assert (first.reads, second.reads) == (4, 0)
        first.answer = lambda start, stop: b""
        await reader.read("blob")
        first.answer, now = second.answer, 5.0
        await reader.read("blob")
        assert (first.reads, second.reads) == (6, 1)
    assert not reader._tasks, "nor does anything stay of what is done"


async def test_what_nobody_waits_for_any_more_is_not_begun() -> None:
    """Of a read that was cancelled, no more than was under way on each path; one that fails ends with its error."""
    source = Held()
    async with TwoPathReader([ReadPath(name="only", source=source)], part_bytes=20_000, in_flight=2) as reader:
        reading = asyncio.create_task(reader.read("blob"))
        await source.has_been_asked(2)
        assert len(source.asked) == 2, "no more at once than are allowed"
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        source.let_go.set()
        source.size_of = 10
        await reader.read("other")
        assert len(source.asked) == 3
        source.size_of, source.error = len(BLOB), UnknownBlobError("blob")
        with pytest.raises(UnknownBlobError):
            await reader.read("blob")


async def test_where_no_path_tells_a_blobs_size_the_error_names_each() -> None:
    """And one that does is enough."""

    class Silent(InMemory):
        async def size(self, key: str) -> int:
            raise OSError("no route")

    silent = [ReadPath(name=name, source=Silent()) for name in ("a", "b")]
    async with TwoPathReader(silent) as reader:
        with pytest.raises(PathsFailedError, match=r"a: OSError, b: OSError"):
            await reader.read("blob")
    async with TwoPathReader([*silent, ReadPath(name="c", source=InMemory())]) as reader:
        assert await reader.read("blob") == BLOB


async def test_leaving_the_block_ends_what_is_under_way() -> None:
    """Whoever still reads is told at once."""
    source = Held()
    async with TwoPathReader([ReadPath(name="only", source=source)], part_bytes=20_000) as reader:
        reading = asyncio.create_task(reader.read("blob"))
        await source.has_been_asked(2)
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_clock_that_goes_back_keeps_no_path_away() -> None:
    """It is asked again at once, rather than an hour later."""
    now, broken = 5_000.0, Held(error=OSError("no route"))
    paths = [ReadPath(name="broken", source=broken), ReadPath(name="direct", source=InMemory())]
    async with TwoPathReader(paths, part_bytes=20_000, clock=lambda: now) as reader:
        await reader.read("blob")
        asked = len(broken.asked)
        now -= 3_600
        await reader.read("blob")
    assert len(broken.asked) > asked


async def test_damaged_and_unknown_blobs_are_told_apart(storage: FileRanges) -> None:
    """A hash that differs, a key that storage does not have, a key that is none."""
    async with served(storage, 1) as (reader, _, _):
        with pytest.raises(BlobMismatchError):
            await reader.read("blob", sha256="0" * 64)
        with pytest.raises(UnknownBlobError):
            await reader.read("nothing")
        for key in ("../blob", "", "a/b", ".hidden", "x" * 300):
            with pytest.raises(ConfigurationError):
                await reader.read(key)


async def test_speculation_waits_for_demand() -> None:
    """While a part of demand is under way or waits, no path begins a speculative one."""
    source = Held(size=80_000)
    async with TwoPathReader([ReadPath(name="only", source=source)], part_bytes=20_000, in_flight=1) as reader:
        demand = asyncio.create_task(reader.read("demand"))
        await source.has_been_asked(1)
        guess = asyncio.create_task(reader.read("guess", speculative=True))
        source.let_go.set()
        await asyncio.gather(demand, guess)
    assert [speculative for _, speculative in source.asked] == [False] * 4 + [True] * 4


async def test_demand_overtakes_the_parts_of_speculation_that_have_not_begun() -> None:
    """One speculative part is under way; demand's come next."""
    source = Held(size=80_000)
    async with TwoPathReader([ReadPath(name="only", source=source)], part_bytes=20_000) as reader:
        guess = asyncio.create_task(reader.read("guess", speculative=True))
        await source.has_been_asked(1)
        demand = asyncio.create_task(reader.read("demand"))
        await source.has_been_asked(3)
        source.let_go.set()
        await asyncio.gather(demand, guess)
    assert [speculative for _, speculative in source.asked] == [True] + [False] * 4 + [True] * 3


async def test_a_reader_that_is_closed_or_cancelled_leaves_nothing_behind() -> None:
    """Whoever waits is cancelled, and no task is left."""
    source = Held()
    reader = TwoPathReader([ReadPath(name="only", source=source)], part_bytes=20_000)
    waiting = [asyncio.create_task(reader.read("blob")) for _ in range(2)]
    await source.has_been_asked(2)
    waiting[0].cancel()
    await reader.aclose()
    assert all(isinstance(e, asyncio.CancelledError) for e in await asyncio.gather(*waiting, return_exceptions=True))
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_bounds_are_kept(storage: FileRanges) -> None:
    """A blob that is too large is refused before it is read; nonsense is refused when the reader is built."""
    path = ReadPath(name="direct", source=storage)
    async with TwoPathReader([path], max_blob_bytes=1_000) as reader:
        with pytest.raises(ConfigurationError, match="max_blob_bytes"):
            await reader.read("blob")
        assert reader.counts[0].bytes_read == 0
    for paths in ([], [path, path]):
        with pytest.raises(ConfigurationError):
            TwoPathReader(paths)
    nan = float("nan")
    wrongs: list[dict[str, Any]] = [{name: 0} for name in ("part_bytes", "in_flight", "max_blob_bytes", "max_reads")]
    wrongs += [{name: value} for name in ("retry_seconds", "timeout_seconds") for value in (0.0, -1.0, nan)]
    for wrong in wrongs:
        with pytest.raises(ConfigurationError):
            TwoPathReader([path], **wrong)
    for rate in (0.0, -1.0, nan, float("inf")):
        with pytest.raises(ConfigurationError, match="'slow'"):
            ReadPath(name="slow", source=storage, bytes_per_second=rate)


async def test_the_server_answers_ranges_and_nothing_else(storage: FileRanges) -> None:
    """Loopback only; other methods, whole files, other ranges and paths outside are refused."""
    async with RangeServer(storage) as server, httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
        answer = await client.get("/blob", headers={"range": "bytes=10-19"})
        assert (answer.status_code, answer.content) == (206, BLOB[10:20])
        assert answer.headers["content-range"] == f"bytes 10-19/{len(BLOB)}"
        assert (await client.get("/blob")).status_code == 400
        assert (await client.post("/blob")).status_code == 400
        assert (await client.get("/blob", headers={"range": "bytes=900000-900001"})).status_code == 416
        assert (await client.get("/%2e%2e/blob", headers={"range": "bytes=0-1"})).status_code == 404
    with pytest.raises(ConfigurationError, match="loopback"):
        RangeServer(storage, host="0.0.0.0")


async def test_a_server_that_ignores_ranges_is_a_failing_source(storage: FileRanges) -> None:
    """What is not exactly what was asked for is not handed on."""

    class Short:
        async def size(self, key: str) -> int:
            return 100

        async def read(self, key: str, start: int, stop: int, *, speculative: bool = False) -> bytes:
            return b"too short"

    async with RangeServer(Short()) as server, HttpRanges(server.url) as source:
        with pytest.raises(ShortReadError, match="9 bytes instead of 100"):
            await source.read("blob", 0, 100)
    with pytest.raises(ShortReadError):
        await storage.read("blob", len(BLOB) - 1, len(BLOB) + 1)
