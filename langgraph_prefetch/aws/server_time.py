"""One clock for all machines: that of the service they share, told by the ``Date`` of each of its answers."""

from __future__ import annotations

import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime

TOLERATED_SECONDS = 2.0
"""The header has whole seconds. A machine that is off by less goes by its own clock, which does not jump."""


class ServerTime:
    """Epoch seconds as the service has them.

    Args:
        clock: this machine's epoch seconds.
    """

    __slots__ = ("_clock", "offset")

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self.offset = 0.0

    def __call__(self) -> float:
        """Now."""
        return self._clock() + self.offset

    def heard(self, date: str | None) -> None:
        """An answer had this ``Date`` header."""
        if date is None:
            return
        try:
            server = parsedate_to_datetime(date).timestamp() + 0.5
        except ValueError:
            return
        ahead = server - self._clock()
        if abs(ahead - self.offset) > TOLERATED_SECONDS:
            self.offset = ahead if abs(ahead) > TOLERATED_SECONDS else 0.0
