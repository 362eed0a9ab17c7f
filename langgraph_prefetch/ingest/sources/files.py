"""Files as a source: named ones, folders, patterns."""

from __future__ import annotations

import glob
import importlib.util
import io
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import IO, Unpack

from langgraph_prefetch.errors import ConfigurationError, UnreadableDocumentError
from langgraph_prefetch.ingest.sources.columns import Documents, collected
from langgraph_prefetch.ingest.sources.fingerprints import file_fingerprint, fingerprint
from langgraph_prefetch.ingest.sources.folders import walk
from langgraph_prefetch.ingest.sources.formats import Format, Opened, Reader, Reading, format_of
from langgraph_prefetch.ingest.sources.names import source_name
from langgraph_prefetch.ingest.sources.options import ReadingOptions
from langgraph_prefetch.ingest.sources.shapes import Document, Part, Skipped

Path = str | os.PathLike[str]

_PATTERN = frozenset("*?[")
_READERS = {
    "text": ("plain", "read_text"),
    "markdown": ("plain", "read_markdown"),
    "html": ("html", "read_html"),
    "jsonl": ("jsonl", "read_jsonl"),
    "python": ("docstrings", "read_docstrings"),
}
_VERSION = "2"
"""Changes when a reader gives other documents for the same file, so that files are read again."""


def files(*paths: Path, root: Path | None = None, **options: Unpack[ReadingOptions]) -> FileSource:
    """Files, folders and glob patterns as a source.

    Args:
        paths: a folder is read recursively; in a pattern, ``**`` stands for any folders.
        root: a folder from which the files are named in the store. Without it they are named by their absolute paths,
            which are other ones on another machine.
        options: see ``Reading``.

    Raises:
        ConfigurationError: a path does not exist, a pattern matches nothing, or a file is outside ``root``.
    """
    return FileSource(
        paths=tuple(os.fspath(path) for path in paths),
        root=None if root is None else os.fspath(root),
        reading=Reading(**options),
    )


def python_package(name: str, **options: Unpack[ReadingOptions]) -> FileSource:
    """The documentation strings of an installed package or module, found without importing it.

    Its files are named from the folder that holds the package.

    Raises:
        ConfigurationError: there is none of that name, or it has no Python files.
    """
    top, *rest = name.split(".")
    try:
        spec = importlib.util.find_spec(top) if top else None
    except (ImportError, ValueError):
        spec = None
    places = [] if spec is None else list(spec.submodule_search_locations or [])
    if not places and spec is not None and spec.has_location and spec.origin and not rest:
        places = [spec.origin]
    for place in places:
        below = os.path.join(place, *rest)
        for path in (below, f"{below}.py"):
            if os.path.exists(path):
                options["format"] = "python"
                return files(path, root=os.path.dirname(place), **options)
    raise ConfigurationError(f"there is no Python package {name!r} with files here")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSource:
    """Files as a source; made by ``files`` and ``python_package``. Each file is a part of its own.

    Attributes:
        paths: files, folders and glob patterns; a file that is reached twice is read once.
        root: what names in the store are relative to.
        reading: how the files are read.
    """

    paths: tuple[str, ...]
    root: str | None = None
    reading: Reading = field(default_factory=Reading)

    def __post_init__(self) -> None:
        if not self.paths:
            raise ConfigurationError("name at least one file, folder or pattern")
        for path in self.paths:
            if not os.path.exists(path) and not (_PATTERN & set(path)):
                raise ConfigurationError(f"there is no file or folder {path}")

    def parts(self) -> Iterator[Part | Skipped]:
        """The files, in the order of ``paths`` and, in a folder, of their names.

        Raises:
            ConfigurationError: a pattern matches nothing, or a file is outside ``root``.
        """
        identity = f"{_VERSION}:{self.reading.identity}"
        seen = set()
        for found in self._found():
            if isinstance(found, Skipped):
                yield found
            elif (name := self._name(found)) not in seen:
                seen.add(name)
                yield _open(name, found, self.reading, identity)

    def _found(self) -> Iterator[str | Skipped]:
        for path in self.paths:
            if os.path.isdir(path):
                yield from walk(path, wanted=self._wanted, follow_links=self.reading.follow_links)
            elif os.path.exists(path):
                yield path
            else:
                matches = [match for match in sorted(glob.glob(path, recursive=True)) if not os.path.isdir(match)]
                if not matches:
                    raise ConfigurationError(f"no file matches {path}")
                yield from matches

    def _wanted(self, path: str) -> bool:
        return format_of(path) is not None if self.reading.format == "auto" else format_of(path) == self.reading.format

    def _name(self, path: str) -> str:
        full = os.path.abspath(path)
        if self.root is not None:
            root = os.path.abspath(self.root)
            if os.path.commonpath([root, full]) != root:
                raise ConfigurationError(f"{path} is not in the root folder {self.root}")
            full = os.path.relpath(full, root)
        # A name that is not UTF-8 is kept apart from all others, in a form that can be stored.
        return source_name(os.fsencode(full).decode("utf-8", "backslashreplace").replace(os.sep, "/"))


@dataclass(slots=True)
class FilePart:
    """One file. A small one is read at once, a file of JSON lines as its documents are asked for."""

    source: str
    fingerprint: bytes | None
    _path: str
    _reading: Reading
    _format: Format
    _open: Callable[[], IO[bytes]]
    _state: tuple[int, int] | None

    def documents(self) -> Iterator[Document | Skipped]:
        """Its documents, and what of it could not be read."""
        for found in self._read():
            if isinstance(found, Documents):
                yield from found
            else:
                yield found

    def columns(self) -> Iterator[Documents | Skipped]:
        """The same as columns."""
        return collected(self._read())

    def _read(self) -> Iterator[Document | Documents | Skipped]:
        try:
            with self._open() as file:
                opened = Opened(source=self.source, path=self._path, file=file, reading=self._reading)
                yield from _reader(self._format)(opened)
                if self._state is not None and self._state != _state(os.stat(self._path)):
                    raise UnreadableDocumentError("changed while it was being read; run again")
        except UnreadableDocumentError as error:
            yield Skipped(where=self.source, reason=str(error))
        except OSError as error:
            yield Skipped(where=self.source, reason=_reason(error))


def _open(name: str, path: str, reading: Reading, identity: str) -> FilePart | Skipped:
    kind = reading.format if reading.format != "auto" else format_of(path) or "text"
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            return Skipped(where=name, reason="not a regular file")
        with open(path, "rb") as file:
            if kind == "jsonl":
                state, mark = _state(os.fstat(file.fileno())), file_fingerprint(file, kind, identity)
                return FilePart(name, mark, path, reading, kind, lambda: open(path, "rb"), state)
            data = file.read(reading.max_bytes + 1)
    except OSError as error:
        return Skipped(where=name, reason=_reason(error))
    if len(data) > reading.max_bytes:
        return Skipped(where=name, reason=f"larger than {reading.max_bytes:,} bytes; raise max_bytes, or split it")
    return FilePart(name, fingerprint(data, kind, identity), path, reading, kind, lambda: io.BytesIO(data), None)


def _reader(kind: Format) -> Reader:
    # On demand: the reader of one format must not ask for the libraries of another.
    module, name = _READERS[kind]
    reader: Reader = getattr(import_module(f"langgraph_prefetch.ingest.sources.{module}"), name)
    return reader


def _state(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
