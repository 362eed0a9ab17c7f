"""A breaker around one service: safe for threads, on this process's clock, heard of in the log."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from langgraph_prefetch.aws._extras import Breaker, BreakerRule, Entered
from langgraph_prefetch.locks import ForkSafeLock

logger = logging.getLogger("langgraph_prefetch")


class Guard:
    """Lets calls of a service through, or refuses them.

    Args:
        name: of the service, for the log.
        rule: when it is no longer asked.
        clock: seconds that never go back.
    """

    def __init__(self, name: str, rule: BreakerRule, clock: Callable[[], float] = time.monotonic) -> None:
        self._name, self._rule, self._clock = name, rule, clock
        self._breaker = Breaker(name, rule)
        # The breaker's bookkeeping is not safe for threads; the lock is never held during a call.
        self._lock = ForkSafeLock()

    @property
    def is_open(self) -> bool:
        """True while calls are refused."""
        with self._lock:
            return self._breaker.remaining(self._clock()) > 0

    @contextmanager
    def calling(self, harmless: tuple[type[Exception], ...] = ()) -> Iterator[None]:
        """Around one call.

        Args:
            harmless: what it may raise although the service works.

        Raises:
            BreakerOpenError: the call is not to be made.
        """
        with self._lock:
            entered = self._breaker.enter(self._clock())
        try:
            yield
        except harmless:
            self._left(entered, None)
            raise
        except Exception as error:
            self._left(entered, error)
            raise
        except BaseException:  # whoever called goes away, which says nothing of the service
            with self._lock:
                self._breaker.abandon(entered)
            raise
        self._left(entered, None)

    def _left(self, entered: Entered, error: Exception | None) -> None:
        with self._lock:
            before = self._breaker.state
            self._breaker.leave(entered, self._clock(), error)
            opened = before == "closed" and self._breaker.state == "opened"
        if opened:
            logger.warning(
                "%s does not work (%s); prefetch goes on without it and tries again every %g s",
                self._name,
                type(error).__name__,
                self._rule.open_seconds,
            )
