"""A component that a call warms, such as a serverless endpoint that answers its first request late."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import isfinite

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.ports import Clock


class WarmedByCall:
    """Warm for a while after a call of ``function``, such as a request for one token, or an empty search.

    Args:
        function: returns when it is warm.
        keep_seconds: how long the component then stays so, by its provider's word.
        cool: stops it; None where its provider does.
        clock: seconds.

    Raises:
        ConfigurationError: a value out of its range.
    """

    def __init__(
        self,
        function: Callable[[], object],
        *,
        keep_seconds: float = 300.0,
        cool: Callable[[], object] | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        if not (isfinite(keep_seconds) and keep_seconds >= 0):
            raise ConfigurationError(f"keep_seconds must be 0 or more, not {keep_seconds}")
        self._function, self._keep_seconds, self._cool, self._clock = function, keep_seconds, cool, clock
        self._warm_at: float | None = None

    def is_warm(self) -> bool:
        """The last call was not too long ago; of a clock that went back, it was."""
        at = self._warm_at
        return at is not None and 0 <= self._clock() - at < self._keep_seconds

    def warm(self) -> None:
        """Call the function."""
        self._function()
        self._warm_at = self._clock()

    def cool(self) -> None:
        """Forget that it is warm, and stop it where that can be done."""
        self._warm_at = None
        if self._cool is not None:
            self._cool()
