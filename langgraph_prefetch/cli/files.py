"""Files that commands read and write, with errors that say which one and why."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.evaluation.traces import Recording, read_recording


def read_recordings(paths: Iterable[str]) -> list[Recording]:
    """Read recordings, and name the malformed lines on standard error.

    Raises:
        TraceFileError: one of them cannot be read.
    """
    recordings = [read_recording(path) for path in paths]
    for recording in recordings:
        for line in recording.malformed:
            print(f"skipped {line}", file=sys.stderr)
        if recording.malformed:
            print(f"{recording.file}: lines skipped: {len(recording.malformed)}", file=sys.stderr)
    return recordings


def check_writable(out: Path) -> None:
    """Before the work, so that it is not lost.

    Raises:
        ConfigurationError: nothing can be written there.
    """
    if out.is_dir():
        raise ConfigurationError(f"cannot write {out}: it is a folder")
    if not out.parent.is_dir():
        raise ConfigurationError(f"cannot write {out}: there is no folder {out.parent}")
    if not os.access(out if out.exists() else out.parent, os.W_OK):
        raise ConfigurationError(f"cannot write {out}: permission denied")


def write(out: Path, text: str) -> None:
    """Write a file.

    Raises:
        ConfigurationError: it cannot be written.
    """
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"cannot write {out}: {error.strerror or type(error).__name__}") from error
