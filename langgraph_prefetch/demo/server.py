"""A PostgreSQL server with pgvector out of a wheel, for as long as it is needed."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from langgraph_prefetch.retrieval.embedded import EmbeddedServer, temporary


@contextmanager
def postgres(*, durable: bool = True) -> Iterator[EmbeddedServer]:
    """A server of its own on a unix socket in a temporary folder; both are gone afterwards, however it is left.

    Args:
        durable: as a server that is kept. False starts, writes and stops faster.

    Raises:
        EmbeddedServerError: it cannot be started here.
    """
    with _terminated_as_interrupted(), temporary(durable=durable) as server:
        yield server


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM unwinds as Ctrl-C does, so that nothing outlives us. Only the main thread may set that."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        as_ctrl_c = signal.getsignal(signal.SIGINT)  # asyncio's own while it runs, which cancels instead of raising
        (as_ctrl_c if callable(as_ctrl_c) else signal.default_int_handler)(number, frame)

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
