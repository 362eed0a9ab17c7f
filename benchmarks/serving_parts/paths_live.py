"""Large blobs over one path and over several, from real processes on loopback whose storage links are rate-limited."""

from __future__ import annotations

import asyncio
import hashlib
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

from benchmarks.serving_parts.children import ranges
from benchmarks.serving_parts.part import Check, Table
from langgraph_prefetch.serving.disaggregated.link import Link
from langgraph_prefetch.serving.disaggregated.ranges import HttpRanges
from langgraph_prefetch.serving.disaggregated.reader import ReadPath, TwoPathReader

RATE = 5e5
"""Bytes a second of each storage link: little, so that the links are the bottleneck even on a busy machine."""
BLOB = 4 * 2**20
SMALL = 2**18
PART = 2**15
BLOCK = 10
"""Reads with speculation, and then as many without."""


@contextmanager
def storage_with(blobs: dict[str, bytes]) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as directory:
        for key, data in blobs.items():
            Path(directory, key).write_bytes(data)
        with ranges("--directory", directory) as url:
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


async def waits(storage: str, peers: Sequence[str], digests: dict[str, str], reads: int) -> tuple[float, float]:
    """The 95th percentile of small demand reads at half load, without and with speculation on the same links.

    Both take turns every few reads, so that what else the machine does meets both alike.
    """
    chance = random.Random(7)
    taken: tuple[list[float], list[float]] = ([], [])
    async with reader(storage, peers, RATE) as paths:

        async def guesses() -> None:
            while True:
                await paths.read("big", speculative=True)

        while len(taken[1]) < reads:
            for found, speculates in zip(taken, (False, True), strict=True):
                background = asyncio.create_task(guesses()) if speculates else None
                for _ in range(BLOCK):
                    await asyncio.sleep(chance.uniform(0.5, 1.5) * SMALL / RATE / (1 + len(peers)))
                    begun = time.perf_counter()
                    await paths.read("small", sha256=digests["small"])
                    found.append(time.perf_counter() - begun)
                if background is not None:
                    background.cancel()
                    await asyncio.gather(background, return_exceptions=True)
    without, beside = (statistics.quantiles(each, n=20)[18] for each in taken)
    return without, beside


def run(*, short: bool) -> tuple[Table, list[Check], dict[str, float]]:
    """What more paths gain, and what speculation beside demand costs it."""
    chance = random.Random(1)
    blobs = {"big": chance.randbytes(BLOB), "small": chance.randbytes(SMALL)}
    digests = {key: hashlib.sha256(data).hexdigest() for key, data in blobs.items()}
    rounds, reads = (1, 60) if short else (3, 200)
    with storage_with(blobs) as storage, ranges("--storage", storage, "--rate", str(RATE)) as one:
        with ranges("--storage", storage, "--rate", str(RATE)) as two:
            alone, pair, three = (
                asyncio.run(seconds_for(storage, peers, "big", digests["big"], rounds))
                for peers in ([], [one], [one, two])
            )
        without, beside = asyncio.run(waits(storage, [one], digests, reads))
    cost = beside / without - 1
    figures = {"one": BLOB / alone / RATE, "1P1D": alone / pair, "1P2D": alone / three, "speculation": cost}
    rows = (
        ("direct only", f"{figures['one']:.2f} of its link", "1"),
        ("1P1D", f"{figures['1P1D']:.2f}x", "2.0"),
        ("1P2D", f"{figures['1P2D']:.2f}x", "3.0"),
        (
            "demand p95 beside speculation",
            f"{100 * cost:+.1f} % ({1e3 * without:.0f} -> {1e3 * beside:.0f} ms)",
            "",
        ),
    )
    checks = [
        Check(what="live 1P1D", measured=rows[1][1], wanted=">= 1.8x of 2.0", kept=figures["1P1D"] >= 1.8),
        Check(what="live 1P2D", measured=rows[2][1], wanted=">= 2.5x of 3.0", kept=figures["1P2D"] >= 2.5),
        Check(what="live, speculation beside demand", measured=rows[3][1], wanted="<= +5 % at p95", kept=cost <= 0.05),
    ]
    caption = f"Live: {BLOB / 2**20:.0f} MiB from processes whose links carry {RATE / 1e6:g} MB/s, checked by SHA-256"
    return Table(caption=caption, head=("paths", "measured", "bound"), rows=rows), checks, figures


if __name__ == "__main__":
    table, kept, _ = run(short="--short" in sys.argv)
    sys.stdout.write("\n".join([table.text(), *(check.text() for check in kept)]) + "\n")
