"""A file that is appended to and never grows beyond a bound."""

from __future__ import annotations

import os
from pathlib import Path


class RotatingFile:
    """Appends lines to ``path``; a full file becomes ``path.1``, the one before it ``path.2``, and so on.

    A forked child writes to a file of its own, ``name-<pid>.ext``, since two that rotate one file would lose lines. It
    is not safe for threads.

    Args:
        path: where to write; opened at the first line, and appended to if it exists.
        max_bytes: how large a file may grow. A single longer line still gets a file of its own.
        keep: how many full files are kept.
    """

    def __init__(self, path: str | Path, *, max_bytes: int, keep: int) -> None:
        self.path = Path(path)
        self._max_bytes, self._keep = max_bytes, keep
        self._pid = os.getpid()
        self._descriptor: int | None = None
        self._size = 0

    def write(self, line: bytes) -> None:
        """Append one line.

        Raises:
            OSError: it cannot be written.
        """
        if self._pid != os.getpid():
            self.close()
            self._pid = os.getpid()
            self.path = self.path.with_name(f"{self.path.stem}-{self._pid}{self.path.suffix}")
        if self._size and self._size + len(line) > self._max_bytes:
            self.close()
            self._rotate()
        if self._descriptor is None:
            self._open()
        self._append(line)

    def close(self) -> None:
        """Close the file; the next line opens it again."""
        descriptor, self._descriptor, self._size = self._descriptor, None, 0
        if descriptor is not None:
            os.close(descriptor)

    def _open(self) -> None:
        binary = getattr(os, "O_BINARY", 0)
        self._descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | binary, 0o644)
        self._size = os.lseek(self._descriptor, 0, os.SEEK_END)
        if self._size:
            os.lseek(self._descriptor, -1, os.SEEK_END)
            if os.read(self._descriptor, 1) != b"\n":  # whoever wrote it was cut off
                self._append(b"\n")

    def _append(self, data: bytes) -> None:
        assert self._descriptor is not None
        while data:
            written = os.write(self._descriptor, data)
            self._size += written
            data = data[written:]

    def _rotate(self) -> None:
        if self._keep == 0:
            self.path.unlink(missing_ok=True)
            return
        for number in range(self._keep, 0, -1):
            source = self.path if number == 1 else self._full(number - 1)
            if source.exists():
                os.replace(source, self._full(number))

    def _full(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")
