"""Programs of this folder as processes of their own, for as long as they are needed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path


@contextmanager
def child(program: str, *arguments: str) -> Iterator[str]:
    """A process of ``program``; yields the address that it prints. It ends when its input does."""
    command = [sys.executable, str(Path(__file__).with_name(program)), *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdin is not None
        assert started.stdout is not None
        try:
            yield started.stdout.readline().strip()
        finally:
            started.stdin.close()
            try:
                started.wait(10)
            except subprocess.TimeoutExpired:
                started.kill()


ranges = partial(child, "range_process.py")
"""A range server."""
