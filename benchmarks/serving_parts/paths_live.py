"""Large blobs over one path and over several, from real processes on loopback whose storage links are rate-limited."""

from __future__ import annotations

import asyncio
import hashlib
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

from langgraph_prefetch.serving.disaggregated.link import Link
from langgraph_prefetch.serving.disaggregated.ranges import HttpRanges
from langgraph_prefetch.serving.disaggregated.reader import ReadPath, TwoPathReader

RATE = 1e6
"""Bytes a second of each storage link: little, so that the links are the bottleneck even on a busy machine."""
BLOB = 4 * 2**20
SMALL = 2**19
PART = 2**16


@contextmanager
def process(*arguments: str) -> Iterator[str]:
    """A range server of its own; yields its address."""
    command = [sys.executable, str(Path(__file__).with_name("range_process.py")), *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            yield child.stdout.readline().strip()
        finally:
            child.stdin.close()
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()


@contextmanager
def storage_with(blobs: dict[str, bytes]) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as directory:
        for key, data in blobs.items():
            Path(directory, key).write_bytes(data)
        with process("--directory", directory) as url:
            yield url


@asynccontextmanager
async def reader(storage: str, peers: Sequence[str], rate: float) -> AsyncIterator[TwoPathReader]:
    """This process's own link to storage, and its peers with theirs."""
    async with AsyncExitStack() as stack:
        direct = await stack.enter_async_context(HttpRanges(storage, link=Link(rate)))
        others = [await stack.enter_async_context(HttpRanges(peer)) for peer in peers]
        paths = [ReadPath(name="direct", source=direct, bytes_per_second=rate)]
        paths += [ReadPath(name=f"peer {n}", source=each, bytes_per_second=rate) for n, each in enumerate(others, 1)]
        yield await stack.enter_async_context(TwoPathReader(paths, part_bytes=PART, in_flight=3))


async def seconds_for(storage: str, peers: Sequence[str], key: str, digest: str, rounds: int) -> float:
    taken = []
    async with reader(storage, peers, RATE) as paths:
        for _ in range(rounds):
            begun = time.perf_counter()
            await paths.read(key, sha256=digest)
            taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


async def waits(storage: str, peers: Sequence[str], digests: dict[str, str], *, speculate: bool, reads: int) -> float:
    """The 95th percentile of small demand reads, at half load, with or without speculation on the same links."""
    chance = random.Random(7)
    taken: list[float] = []
    async with reader(storage, peers, RATE) as paths:

        async def guesses() -> None:
            while True:
                await paths.read("big", sha256=digests["big"], speculative=True)

        background = asyncio.create_task(guesses()) if speculate else None
        for _ in range(reads):
            begun = time.perf_counter()
            await paths.read("small", sha256=digests["small"])
            taken.append(time.perf_counter() - begun)
            await asyncio.sleep(chance.uniform(0.5, 1.5) * SMALL / RATE / (1 + len(peers)))
        if background is not None:
            background.cancel()
            await asyncio.gather(background, return_exceptions=True)
    return statistics.quantiles(taken, n=20)[18]


def run(quick: bool) -> list[tuple[str, str, str, str]]:
    """Rows: what, found, wanted, why."""
    chance = random.Random(1)
    blobs = {"big": chance.randbytes(BLOB), "small": chance.randbytes(SMALL)}
    digests = {key: hashlib.sha256(data).hexdigest() for key, data in blobs.items()}
    rounds, reads = (1, 60) if quick else (3, 200)
    rows = []
    with storage_with(blobs) as storage, process("--storage", storage, "--rate", str(RATE)) as one:
        with process("--storage", storage, "--rate", str(RATE)) as two:
            alone = asyncio.run(seconds_for(storage, [], "big", digests["big"], rounds))
            pair = asyncio.run(seconds_for(storage, [one], "big", digests["big"], rounds))
            three = asyncio.run(seconds_for(storage, [one, two], "big", digests["big"], rounds))
        rows.append(("live, one path", f"{BLOB / alone / RATE:.2f} of its link", "1", "every byte checked by SHA-256"))
        rows.append(("live, 1P1D", f"{alone / pair:.2f}x", ">= 1.8 of 2.0", "the last parts do not end together"))
        rows.append(("live, 1P2D", f"{alone / three:.2f}x", ">= 2.5 of 3.0", "the same, of less time"))
        ratios = []
        for _ in range(rounds):
            without = asyncio.run(waits(storage, [one], digests, speculate=False, reads=reads))
            beside = asyncio.run(waits(storage, [one], digests, speculate=True, reads=reads))
            ratios.append(beside / without)
        found = f"{100 * (statistics.median(ratios) - 1):+.1f} %"
        rows.append(("live, demand p95 beside speculation", found, "<= +5 %", "a slice of 4 KiB is not interrupted"))
    return rows


if __name__ == "__main__":
    for row in run("--quick" in sys.argv):
        sys.stdout.write(" | ".join(row) + "\n")
