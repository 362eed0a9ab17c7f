"""A circuit breaker around one service, on the library ``purgatory``."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from langgraph_prefetch.aws._extras import breaker_states, purgatory
from langgraph_prefetch.locks import ForkSafeLock

logger = logging.getLogger("langgraph_prefetch")


class OpenBreakerError(Exception):
    """The service is known not to work; it was not asked."""


class Breaker:
    """Opens after some failures in a row, and lets one call try again after a while. Safe for threads.

    Args:
        name: of the service, for the log.
        failures: so many in a row open it.
        seconds: so long it stays open.
    """

    def __init__(self, name: str, *, failures: int, seconds: float) -> None:
        self._name, self._seconds = name, seconds
        factory = purgatory.SyncCircuitBreakerFactory(default_threshold=failures, default_ttl=seconds)
        self._breaker = factory.get_breaker(name)
        # The library's bookkeeping is not safe for threads; the lock is never held during a call.
        self._lock = ForkSafeLock()
        self._trying = False

    @property
    def is_open(self) -> bool:
        """True while calls are refused."""
        context = self._breaker.context
        opened_at = context.opened_at
        if context.state != breaker_states.OPENED or opened_at is None:
            return False
        return time.time() <= opened_at + self._seconds

    @contextmanager
    def calling(self, harmless: tuple[type[Exception], ...] = ()) -> Iterator[None]:
        """Around one call.

        Args:
            harmless: what it may raise although the service works.

        Raises:
            OpenBreakerError: the call is not to be made.
        """
        trial = self._enter()
        try:
            yield
        except harmless:
            self._exit(None, trial)
            raise
        except BaseException as error:
            self._exit(error, trial)
            raise
        self._exit(None, trial)

    def _enter(self) -> bool:
        with self._lock:
            if self._trying:
                raise OpenBreakerError(self._name)
            try:
                self._breaker.__enter__()
            except breaker_states.OpenedState:
                raise OpenBreakerError(self._name) from None
            trial = bool(self._breaker.context.state == breaker_states.HALF_OPENED)
            self._trying = trial
            return trial

    def _exit(self, error: BaseException | None, trial: bool) -> None:
        with self._lock:
            before = self._breaker.context.state
            if trial:
                self._trying = False
            self._breaker.__exit__(type(error) if error is not None else None, error, None)
            opened = before != breaker_states.OPENED and self._breaker.context.state == breaker_states.OPENED
        if opened:
            logger.warning(
                "%s does not work (%s); prefetch goes on without it and tries again every %g s",
                self._name,
                type(error).__name__ if error is not None else "",
                self._seconds,
            )
