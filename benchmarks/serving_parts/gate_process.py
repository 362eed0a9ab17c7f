"""A process that asks components, bare and through a gateway: `/bare` and `/gated`; `/used` tells its processor time.

Prints its address when it is ready, and ends when its standard input is closed.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from langchain_core.runnables import Runnable, RunnableLambda

from benchmarks.serving_parts.lines import Lines, serve
from langgraph_prefetch.serving.gateway import BreakerRule, LimitRule, gateway


def asked(name: str, lines: Lines) -> Runnable[Any, Any]:
    """A component that answers with what its process says."""

    async def ask(given: object) -> str:
        return await lines.get("/answer")

    return RunnableLambda(ask, name=name)


async def run(component: str, fallback: str | None, open_seconds: float, initial: int) -> None:
    async with AsyncExitStack() as stack:
        bare = asked("component", await stack.enter_async_context(Lines(component)))
        stand_in = None if fallback is None else asked("stand-in", await stack.enter_async_context(Lines(fallback)))
        gated = gateway(
            bare,
            name="component",
            fallback=stand_in,
            limit=LimitRule(initial=initial),
            breaker=BreakerRule(failures=3, open_seconds=open_seconds),
        )

        async def answer(path: str) -> str:
            if path == "/used":
                return str(time.process_time())
            return str(await (gated if path == "/gated" else bare).ainvoke("?"))

        server = await stack.enter_async_context(await serve(answer))
        sys.stdout.write(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)
        server.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("component")
    parser.add_argument("--fallback")
    parser.add_argument("--open-seconds", type=float, default=2.0)
    parser.add_argument("--initial", type=int, default=64)
    given = parser.parse_args()
    asyncio.run(run(given.component, given.fallback, given.open_seconds, given.initial))


if __name__ == "__main__":
    main()
