"""Workers on this machine, as processes of their own: for tests, examples and benchmarks. Extra ``aws``."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

START_SECONDS, STOP_SECONDS = 180.0, 30.0
MOST_LINES = 1_000


class LocalWorker:
    """``langgraph-prefetch worker`` in a process of its own; as a context manager it is told to stop at the end.

    Args:
        queue: the URL of its queue.
        table: the name of its table.
        retriever: ``module:object``.
        environment: added to this process's own, such as ``LocalAws.environment()``.
        options: more of the command's options, as words.
        folder: where it runs, and modules are found; None: here.

    Attributes:
        lines: the last thousand that it printed.
    """

    def __init__(
        self,
        queue: str,
        table: str,
        retriever: str,
        *,
        environment: Mapping[str, str],
        options: Sequence[str] = (),
        folder: Path | None = None,
    ) -> None:
        command = [sys.executable, "-m", "langgraph_prefetch.cli", "worker", "--queue", queue, "--table", table]
        self._process = subprocess.Popen(  # noqa: S603 - this package's own command
            [*command, "--retriever", retriever, *options],
            cwd=folder,
            env={**os.environ, **environment, "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines: deque[str] = deque(maxlen=MOST_LINES)
        self._works, self._heard = False, threading.Event()
        self._reader = threading.Thread(target=self._read, name="langgraph-prefetch-local-worker", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """Of its process."""
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Whether its process is over."""
        return self._process.poll() is not None

    def ready(self) -> Self:
        """Wait until it works.

        Raises:
            RuntimeError: it ended, or takes too long; the message has its last line.
        """
        if not self._heard.wait(START_SECONDS) or not self._works or self.ended:
            self.kill()
            raise RuntimeError(f"the worker does not start: {self.lines[-1] if self.lines else 'it said nothing'}")
        return self

    def stop(self) -> int:
        """Tell it to stop, and wait until it has; returns its exit code. Idempotent."""
        if not self.ended:
            self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        return self._over()

    def kill(self) -> None:
        """End it as a crash would."""
        self._process.kill()
        self._over()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        try:
            self.stop()
        except BaseException:
            self.kill()
            raise

    def _over(self) -> int:
        code = self._process.wait()
        self._reader.join(5)
        return code

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            for line in output:
                self.lines.append(line.rstrip())
                if line.startswith("working"):
                    self._works = True
                    self._heard.set()
        self._heard.set()  # it says no more, though its process may take a moment longer to end
