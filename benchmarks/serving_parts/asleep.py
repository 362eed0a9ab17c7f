"""Visits that take their time and nothing else. By themselves, as every process of a pool imports this."""

import asyncio
import time


async def on_loop(seconds: float) -> None:
    """One visit, on the event loop."""
    await asyncio.sleep(seconds)


def in_process(seconds: float) -> None:
    """One visit, in a process of its own."""
    time.sleep(seconds)
