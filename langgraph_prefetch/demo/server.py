"""A PostgreSQL server with pgvector out of a wheel, for as long as it is needed."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from langgraph_prefetch.errors import DemoError, EmbeddedServerError
from langgraph_prefetch.retrieval.embedded import temporary


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: where to connect, its process, its folder."""

    uri: str
    pid: int | None
    folder: Path


@contextmanager
def postgres() -> Iterator[Server]:
    """A server of its own on a unix socket in a temporary folder; both are gone afterwards, however it is left.

    Raises:
        DemoError: it cannot be started here.
    """
    with _terminated_as_interrupted(), ExitStack() as stack:
        try:
            server = stack.enter_context(temporary())
        except EmbeddedServerError as error:
            raise DemoError(str(error)) from error
        yield Server(server.url, server.pid, server.folder)


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM unwinds as Ctrl-C does, so that nothing outlives us. Only the main thread may set that."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
