"""Ends a query that runs on another thread, and makes sure that no other query is hit."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import sqlalchemy as sa

from langgraph_prefetch.locks import ForkSafeLock

_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.5


class WorkCancelledError(Exception):
    """The caller went away before the work began. Nobody sees it: who would be told has gone."""


class Cancelling:
    """Of one piece of work: whether its caller went away, and which connection it uses at the moment."""

    def __init__(self) -> None:
        self._lock = ForkSafeLock()
        self._driver: psycopg.Connection[Any] | None = None
        self._asking: threading.Event | None = None
        self._gone = self._unsure = False
        self._ended = threading.Event()

    def give_up(self) -> None:
        """Its caller has gone: do not begin; or, where it has begun, :meth:`cancel` it."""
        self._gone = True

    def end(self) -> None:
        """It is over."""
        self._ended.set()

    @contextmanager
    def using(self, connection: sa.Connection) -> Iterator[None]:
        """While the work uses this connection. Leaves only when no request to cancel it is under way any more.

        Raises:
            WorkCancelledError: the caller has gone.
        """
        with self._lock:
            if self._gone:
                raise WorkCancelledError
            self._driver = connection.connection.driver_connection
        try:
            yield
        finally:
            with self._lock:
                self._driver, asking = None, self._asking
            if asking is not None:
                asking.wait()
            if self._unsure and not connection.closed:
                connection.invalidate()

    def cancel(self, seconds: float) -> None:
        """Ask the server to end the query, again until the work ends: it may be between two queries. Blocks."""
        until, pause = time.monotonic() + seconds, _FIRST_PAUSE
        while time.monotonic() < until:
            self._ask(seconds)
            if self._ended.wait(pause):
                return
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _ask(self, seconds: float) -> None:
        with self._lock:
            driver = self._driver
            if driver is None:
                return
            asking = self._asking = threading.Event()
        try:
            driver.cancel_safe(timeout=seconds)
        except psycopg.Error:  # it may reach the server yet, and hit whoever has the connection then
            self._unsure = True
        finally:
            with self._lock:
                self._asking = None
            asking.set()
