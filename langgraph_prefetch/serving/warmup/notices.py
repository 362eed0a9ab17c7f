"""Where a process that is started tells that it is ready, so that nobody has to ask it again and again.

The protocol is systemd's (``sd_notify(3)``): a datagram ``READY=1`` to the Unix socket that ``NOTIFY_SOCKET`` names.
Servers that can run under systemd speak it already (gunicorn, PostgreSQL …); any other sends one datagram.
"""

from __future__ import annotations

import socket
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

VARIABLE = "NOTIFY_SOCKET"
"""Of the environment."""
_READY = b"READY=1"
_MAX_BYTES = 4_096


class Notice:
    """A socket of one start. A context manager; used by one thread."""

    def __init__(self) -> None:
        # A folder of our own that only this user may enter: nobody else can tell us anything.
        self._folder = tempfile.TemporaryDirectory(prefix="langgraph_prefetch-")
        self.address = str(Path(self._folder.name, "ready"))
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            self._socket.bind(self.address)
        except OSError:  # a folder for temporary files whose name is too long for a socket
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def wait(self, seconds: float) -> bool:
        """Whether the process told within ``seconds`` that it is ready; returns the moment that it does."""
        self._socket.settimeout(max(1e-3, seconds))
        try:
            told = self._socket.recv(_MAX_BYTES)
        except TimeoutError:
            return False
        return _READY in told.splitlines()

    def close(self) -> None:
        """Take the socket away. Idempotent."""
        self._socket.close()
        self._folder.cleanup()
