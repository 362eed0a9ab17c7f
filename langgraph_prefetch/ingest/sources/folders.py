"""Finding files: folders, recursively, in an order that does not change from run to run."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator

from langgraph_prefetch.ingest.sources.shapes import Skipped

_PASSED_OVER = frozenset({"node_modules", "__pycache__", "__pypackages__", "CVS"})
_OF_AN_ENVIRONMENT = "pyvenv.cfg"
_LISTED_TYPES = 5


def walk(folder: str, *, wanted: Callable[[str], bool], follow_links: bool = False) -> Iterator[str | Skipped]:
    """The paths of files below a folder, sorted by name, folder by folder.

    Left out: hidden files and folders, virtual environments, caches, and folders of version control. A folder that is
    reached twice, by a symbolic link, is read once. Files that are not ``wanted`` are counted, in one line at the end.
    """
    others: Counter[str] = Counter()
    yield from _walk(folder, wanted, follow_links, others, seen=set())
    if others:
        common = ", ".join(f"{suffix} {count}" for suffix, count in sorted(others.items(), key=_rank)[:_LISTED_TYPES])
        more = ", ..." if len(others) > _LISTED_TYPES else ""
        yield Skipped(where=folder, reason=f"files of other types: {others.total()} ({common}{more})")


def _rank(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _walk(
    folder: str, wanted: Callable[[str], bool], follow_links: bool, others: Counter[str], seen: set[tuple[int, int]]
) -> Iterator[str | Skipped]:
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        try:
            status = os.stat(path)
            if not stat.S_ISDIR(status.st_mode):
                if wanted(path):
                    yield path
                else:
                    others[os.path.splitext(path)[1].lower() or "no suffix"] += 1
                continue
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            with os.scandir(path) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield Skipped(where=path, reason=error.strerror or type(error).__name__)
            continue
        if path != folder and any(entry.name == _OF_AN_ENVIRONMENT for entry in inside):
            continue
        below = []
        for entry in inside:
            if entry.name.startswith(".") or entry.name in _PASSED_OVER:
                continue
            if not entry.is_symlink() or follow_links:
                below.append(entry.path)
            elif wanted(entry.path) or entry.is_dir():
                yield Skipped(where=entry.path, reason="a symbolic link; follow_links reads what it points at")
        waiting += reversed(below)
