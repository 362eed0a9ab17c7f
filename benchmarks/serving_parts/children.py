"""Programs of this folder as processes of their own, for as long as they are needed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path


@contextmanager
def child(program: str, *arguments: str, quiet: bool = False) -> Iterator[str]:
    """A process of ``program``; yields the address that it prints. It ends when its input does.

    ``quiet``: what it writes to its standard error is not shown.
    """
    command = [sys.executable, str(Path(__file__).with_name(program)), *arguments]
    errors = subprocess.DEVNULL if quiet else None
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors, text=True) as started:
        assert started.stdin is not None
        assert started.stdout is not None
        try:
            yield next(line.strip() for line in started.stdout if line.startswith("http"))
        finally:
            started.stdin.close()
            try:
                started.wait(10)
            except subprocess.TimeoutExpired:
                started.kill()


ranges = partial(child, "range_process.py")
"""A range server."""
