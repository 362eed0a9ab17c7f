"""A file of verdicts: written one by one as they come, so that a run that is killed does not pay for them again."""

from __future__ import annotations

import datetime
import os
import threading
from pathlib import Path

from langgraph_prefetch.errors import VerdictFileError
from langgraph_prefetch.evaluation.judging.replies import Answer, Ask, NewerFormatError, of_line, to_line


class VerdictStore:
    """What judges replied, in JSON lines; in memory alone without a path.

    A line is handed to the operating system before its verdict is used: a killed process loses none of them, and pays
    again at most for the calls that were under way. A line that a kill cut short is passed over, and so is whatever is
    no verdict; :attr:`broken` counts them. The last line of a key counts.

    Several processes may append to one file; each knows what was there when it opened it, and what it wrote itself.

    Args:
        path: the file; made, with its folder, at the first verdict.

    Raises:
        VerdictFileError: it cannot be read, or was written in a newer format.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = None if path is None else Path(path)
        self.broken = 0
        self._answers: dict[str, Answer] = {}
        self._lock = threading.Lock()
        if self.path is not None:
            self._read(self.path)

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, ask: Ask) -> Answer | None:
        """The reply that is kept; None if none came yet. Failed calls are kept to be read, and not returned."""
        answer = self._answers.get(ask.key)
        return answer if answer is not None and answer.came else None

    def put(self, ask: Ask, answer: Answer) -> None:
        """Keep a reply; on return it is in the file. Blocks for as long as the disk takes.

        Raises:
            VerdictFileError: it cannot be written.
        """
        with self._lock:
            self._answers[ask.key] = answer
            if self.path is not None:
                now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
                self._append(self.path, f"{to_line(ask, answer, now)}\n".encode())

    def _append(self, path: Path, line: bytes) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "ab+") as file:
                if file.tell() and not _ends_a_line(file.fileno(), file.tell()):
                    line = b"\n" + line
                file.write(line)
        except OSError as error:
            raise VerdictFileError(str(path), error.strerror or type(error).__name__) from error

    def _read(self, path: Path) -> None:
        try:
            with open(path, "rb") as lines:
                for number, line in enumerate(lines, start=1):
                    self._take(path, number, line)
        except FileNotFoundError:
            return
        except OSError as error:
            raise VerdictFileError(str(path), error.strerror or type(error).__name__) from error

    def _take(self, path: Path, number: int, line: bytes) -> None:
        try:
            key, answer = of_line(line.decode())
        except NewerFormatError as error:
            raise VerdictFileError(str(path), f"line {number}: {error}") from None
        except ValueError:  # cut short, or not ours; UnicodeDecodeError is one as well
            self.broken += bool(line.strip())
        else:
            self._answers[key] = answer


def _ends_a_line(descriptor: int, size: int) -> bool:
    return os.pread(descriptor, 1, size - 1) == b"\n"
