"""A server process that is started when it is needed, and is warm when its address answers."""

from __future__ import annotations

import http.client
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from math import isfinite

from langgraph_prefetch.errors import ColdError, ConfigurationError
from langgraph_prefetch.locks import ForkSafeLock

POLL_SECONDS = 0.02
STOP_SECONDS = 5.0


class ServerProcess:
    """A command that serves HTTP.

    Args:
        name: for errors.
        command: program and arguments.
        ready_url: answers with a status below 500 as soon as it serves, such as ``http://127.0.0.1:8000/health``.
        start_seconds: longest start.
        env: environment; this process's own if None.

    Raises:
        ConfigurationError: an address that is none, or no command.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        ready_url: str,
        *,
        start_seconds: float = 120.0,
        env: Mapping[str, str] | None = None,
    ) -> None:
        if not ready_url.startswith(("http://", "https://")):
            raise ConfigurationError(f"{name!r}: ready_url must begin with http:// or https://")
        if not command or isinstance(command, str):
            raise ConfigurationError(f"{name!r}: command is a list: a program and its arguments")
        if not (isfinite(start_seconds) and start_seconds > 0):
            raise ConfigurationError(f"{name!r}: start_seconds must be above 0, not {start_seconds}")
        self._name, self._command, self._url = name, list(command), ready_url
        self._seconds, self._env = start_seconds, env
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = ForkSafeLock()

    @property
    def pid(self) -> int | None:
        """Of the process; None where there is none."""
        process = self._process
        return None if process is None or process.poll() is not None else process.pid

    def is_warm(self) -> bool:
        """The process runs, and its address answers."""
        return self.pid is not None and self._answers()

    def warm(self) -> None:
        """Start it, and return when its address answers.

        Raises:
            ColdError: it ended, or took too long; it is stopped then.
        """
        with self._lock:
            if self.pid is None:
                self._process = subprocess.Popen(  # noqa: S603 - the user's own command
                    self._command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env=None if self._env is None else dict(self._env),
                )
        until = time.monotonic() + self._seconds
        while not self._answers():
            if self.pid is None:
                raise ColdError(self._name, f"its process ended with status {self._status()} before it served")
            if time.monotonic() > until:
                self.cool()
                raise ColdError(self._name, f"it did not serve within {self._seconds:g} s")
            time.sleep(POLL_SECONDS)

    def cool(self) -> None:
        """Stop it: asked to, and killed if it does not. Idempotent."""
        with self._lock:
            process, self._process = self._process, None
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
        try:
            with urllib.request.urlopen(self._url, timeout=1.0) as answer:  # noqa: S310 - checked when made
                return bool(answer.status < 500)
        except urllib.error.HTTPError as error:
            with error:
                return error.code < 500
        except (OSError, http.client.HTTPException):
            return False
