"""A process that serves ranges of blobs on loopback: storage (`--directory`), or a peer with a link (`--storage`).

Prints its address when it is ready, and ends when its standard input is closed.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from contextlib import AsyncExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from langgraph_prefetch.serving.disaggregated.link import Link
from langgraph_prefetch.serving.disaggregated.peer import RangeServer
from langgraph_prefetch.serving.disaggregated.ranges import FileRanges, HttpRanges, RangeSource


async def serve(directory: Path | None, storage: str | None, rate: float | None) -> None:
    link = None if rate is None else Link(rate)
    async with AsyncExitStack() as stack:
        source: RangeSource
        if storage is not None:
            source = await stack.enter_async_context(HttpRanges(storage, link=link))
        else:
            source = FileRanges(directory or Path(), link=link)
        server = await stack.enter_async_context(RangeServer(source))
        sys.stdout.write(server.url + "\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--directory", type=Path)
    parser.add_argument("--storage")
    parser.add_argument("--rate", type=float, help="bytes a second that this process draws from its source")
    given = parser.parse_args()
    asyncio.run(serve(given.directory, given.storage, given.rate))


if __name__ == "__main__":
    main()
