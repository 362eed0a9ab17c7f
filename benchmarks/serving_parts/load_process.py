"""A process that generates load, so that what it does takes nothing away from what is measured.

`open URL --rate R --seconds S`: requests that come by chance at a rate, whether or not earlier ones are answered, and
that are timed from the moment they were due: a generator that is late, or has to wait, hides nothing.
`closed URL --sessions N --calls C`: sessions that each ask again as soon as they have an answer.
Prints JSON: of each request when it was due (monotonic clock of the machine), its seconds, and the answer or null.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.serving_parts.lines import Lines

Request = tuple[float, float, str | None]


async def one(lines: Lines, path: str, due: float, done: list[Request]) -> None:
    try:
        answer: str | None = await lines.get(path)
    except OSError:
        answer = None
    done.append((due, time.monotonic() - due, answer))


async def open_loop(url: str, rate: float, seconds: float, seed: int) -> list[Request]:
    draw, done, path = random.Random(seed), list[Request](), urlsplit(url).path
    async with Lines(url) as lines:
        due = time.monotonic()
        until, tasks = due + seconds, set[asyncio.Task[None]]()
        while (due := due + draw.expovariate(rate)) < until:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            tasks.add(asyncio.ensure_future(one(lines, path, due, done)))
        await asyncio.gather(*tasks)
    return done


async def closed_loop(url: str, sessions: int, calls: int) -> list[Request]:
    done, path = list[Request](), urlsplit(url).path

    async with Lines(url) as lines:

        async def session() -> None:
            for _ in range(calls):
                await one(lines, path, time.monotonic(), done)

        await asyncio.gather(*(session() for _ in range(sessions)))
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("loop", choices=("open", "closed"))
    parser.add_argument("url")
    parser.add_argument("--rate", type=float, default=50.0)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sessions", type=int, default=1)
    parser.add_argument("--calls", type=int, default=10)
    given = parser.parse_args()
    made = (
        open_loop(given.url, given.rate, given.seconds, given.seed)
        if given.loop == "open"
        else closed_loop(given.url, given.sessions, given.calls)
    )
    json.dump(asyncio.run(made), sys.stdout)


if __name__ == "__main__":
    main()
