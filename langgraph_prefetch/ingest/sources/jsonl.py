"""JSON, one object a line: each line is a document."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import IO, Any

from langgraph_prefetch.errors import MissingExtraError, UnreadableDocumentError
from langgraph_prefetch.ingest.sources.decode import BLANK, NUL, marked_encoding
from langgraph_prefetch.ingest.sources.fingerprints import fingerprint
from langgraph_prefetch.ingest.sources.formats import Opened, Reading
from langgraph_prefetch.ingest.sources.metadata import holds_nul
from langgraph_prefetch.ingest.sources.shapes import Document, Skipped

try:
    import orjson
except ImportError as error:
    raise MissingExtraError("orjson", "ingest") from error

_TOO_LONG = b""


class _Line(Document):
    """A document of a file whose own fingerprint is known, so that hardly anyone asks for this one's: made on demand.

    Set slot by slot, in a third of the time that a frozen dataclass takes; there may be millions.
    """

    __slots__ = ("_line",)

    def __init__(self, source: str, text: str, metadata: dict[str, Any], line: bytes) -> None:
        _set_source(self, source)
        _set_text(self, text)
        _set_metadata(self, metadata)
        _set_markup(self, "plain")
        _set_line(self, line)

    def __getattr__(self, name: str) -> bytes:
        """Its fingerprint, that of its raw line: the one slot that stays empty."""
        if name != "fingerprint":
            raise AttributeError(name)
        return fingerprint(self._line)


_slots: Any = _Line
_set_source, _set_text, _set_metadata = _slots.source.__set__, _slots.text.__set__, _slots.metadata.__set__
_set_markup, _set_line = _slots.markup.__set__, _slots._line.__set__


def read_jsonl(opened: Opened) -> Iterator[Document | Skipped]:
    """A document for each line, in bounded memory. A line that is no such object is skipped, blank ones silently."""
    make, limit = _maker(opened.source, opened.reading), opened.reading.max_bytes
    for number, line in enumerate(_lines(opened), start=1):
        if line is _TOO_LONG:
            yield Skipped(where=f"{opened.source}:{number}", reason=f"a line of more than {limit:,} bytes")
        elif not line.isspace():
            try:
                yield make(line)
            except UnreadableDocumentError as error:
                yield Skipped(where=f"{opened.source}:{number}", reason=str(error))


def _maker(source: str, reading: Reading) -> Callable[[bytes], Document]:
    """Makes documents of lines; what is the same for all of them is looked up once, since there may be millions."""
    text_field, title_field, kept = reading.text_field, reading.title_field, reading.metadata_fields
    titled, loads = reading.titled, orjson.loads

    def make(line: bytes) -> Document:
        try:
            record = loads(line)
        except orjson.JSONDecodeError as error:
            raise UnreadableDocumentError(f"not JSON: {error.msg} in column {error.colno}") from None
        if not isinstance(record, dict):
            raise UnreadableDocumentError(f"not a JSON object, but {_kind(record)}")
        text = record.pop(text_field, None)
        if not isinstance(text, str):
            raise UnreadableDocumentError(f"no text in the field {text_field!r}")
        text = text.strip()
        if not text:
            raise UnreadableDocumentError(BLANK)
        if title_field is not None and isinstance(title := record.get(title_field), str):
            text = titled(title.strip(), text)
        if kept is not None:
            record = {name: record[name] for name in kept if name in record}
        # In this order since it is dear and hardly ever there: an escape at all, this escape, the character.
        if b"\\" in line and b"\\u0000" in line and ("\0" in text or holds_nul(orjson.dumps(record))):
            raise UnreadableDocumentError(NUL)
        return _Line(source, text, record, line)

    return make


def _lines(opened: Opened) -> Iterator[bytes]:
    """The lines of a file as UTF-8; ``_TOO_LONG`` in place of one that is too long to be held."""
    file = opened.file
    start = file.read(4)
    encoding = marked_encoding(start) or opened.reading.encoding
    file.seek(3 if encoding == "utf-8-sig" and start.startswith(b"\xef\xbb\xbf") else 0)
    if encoding is None or encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig"):
        return _short_enough(file, opened.reading.max_bytes)
    return _recoded(file, encoding)


def _recoded(file: IO[bytes], encoding: str) -> Iterator[bytes]:
    try:
        with io.TextIOWrapper(file, encoding, newline="\n") as decoded:
            yield from (line.encode("utf-8", "surrogatepass") for line in decoded)
    except UnicodeError as error:
        raise UnreadableDocumentError(f"not {encoding}: {error}") from error
    except LookupError as error:
        raise UnreadableDocumentError(f"there is no encoding {encoding!r}") from error


def _short_enough(file: IO[bytes], limit: int) -> Iterator[bytes]:
    readline = file.readline
    while line := readline(limit + 1):
        if len(line) <= limit:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = readline(limit + 1)
        yield _TOO_LONG


def _kind(value: Any) -> str:
    names = {list: "an array", str: "a string", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")
