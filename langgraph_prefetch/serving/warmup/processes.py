"""A server process that is started when it is needed, and is warm when it says so or its address answers."""

from __future__ import annotations

import http.client
import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from math import isfinite

from langgraph_prefetch.errors import ColdError, ConfigurationError
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.serving.warmup.notices import VARIABLE, Notice

POLL_SECONDS = 0.02
"""Between two looks whether it has ended, and whether its address answers, while it has not said that it is ready."""
FRESH_SECONDS = 1.0
"""So long an answer of its address holds; that its process runs is looked at each time."""
STOP_SECONDS = 5.0


class ServerProcess:
    """A command that serves.

    It is warm the moment that it says so (``READY=1`` to its ``NOTIFY_SOCKET``, as systemd has it), or when its
    ``ready_url`` answers, whichever comes first.

    Args:
        name: for errors.
        command: program and arguments.
        ready_url: answers with a status below 500 as soon as it serves, such as ``http://127.0.0.1:8000/health``; None
            for one that says by itself that it is ready.
        start_seconds: longest start.
        env: environment; this process's own if None.

    Raises:
        ConfigurationError: an address that is none, or no command.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        ready_url: str | None = None,
        *,
        start_seconds: float = 120.0,
        env: Mapping[str, str] | None = None,
    ) -> None:
        if ready_url is not None and not ready_url.startswith(("http://", "https://")):
            raise ConfigurationError(f"{name!r}: ready_url must begin with http:// or https://")
        if not command or isinstance(command, str):
            raise ConfigurationError(f"{name!r}: command is a list: a program and its arguments")
        if not (isfinite(start_seconds) and start_seconds > 0):
            raise ConfigurationError(f"{name!r}: start_seconds must be above 0, not {start_seconds}")
        self._name, self._command, self._url = name, list(command), ready_url
        self._seconds, self._env = start_seconds, env
        self._process: subprocess.Popen[bytes] | None = None
        self._ready_at: float | None = None
        self._lock = ForkSafeLock()

    @property
    def pid(self) -> int | None:
        """Of the process; None where there is none."""
        process = self._process
        return None if process is None or process.poll() is not None else process.pid

    def is_warm(self) -> bool:
        """The process runs, it has said that it is ready, or its address answers."""
        at = self._ready_at
        if self.pid is None or (at is None and self._url is None):
            return False
        if self._url is None or (at is not None and time.monotonic() - at < FRESH_SECONDS):
            return True
        return self._answers()

    def warm(self) -> None:
        """Start it, and return when it is ready.

        Raises:
            ColdError: it ended, or took too long; it is stopped then.
        """
        if self.is_warm():
            return
        if self._url is None:
            self.cool()  # one that was not waited for has told nobody
        with Notice() as notice:
            with self._lock:
                if self.pid is None:
                    self._ready_at = None
                    self._process = subprocess.Popen(  # noqa: S603 - the user's own command
                        self._command,
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                        env={**(os.environ if self._env is None else self._env), VARIABLE: notice.address},
                    )
            until = time.monotonic() + self._seconds
            while not self._answers() and not notice.wait(POLL_SECONDS):
                if self.pid is None:
                    raise ColdError(self._name, f"its process ended with status {self._status()} before it served")
                if time.monotonic() > until:
                    self.cool()
                    raise ColdError(self._name, f"it did not serve within {self._seconds:g} s")
            self._ready_at = time.monotonic()

    def cool(self) -> None:
        """Stop it: asked to, and killed if it does not. Idempotent."""
        with self._lock:
            process, self._process, self._ready_at = self._process, None, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _status(self) -> int | None:
        process = self._process
        return None if process is None else process.returncode

    def _answers(self) -> bool:
        if self._url is None:
            return False
        try:
            with urllib.request.urlopen(self._url, timeout=1.0) as answer:  # noqa: S310 - checked when made
                good = bool(answer.status < 500)
        except urllib.error.HTTPError as error:
            with error:
                good = error.code < 500
        except (OSError, http.client.HTTPException):
            return False
        self._ready_at = time.monotonic() if good else None
        return good
