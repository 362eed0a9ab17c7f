"""JSON, one object a line: each line is a document."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import IO, Any

from langgraph_prefetch.errors import MissingExtraError, UnreadableDocumentError
from langgraph_prefetch.ingest.sources.decode import BLANK, NUL, marked_encoding
from langgraph_prefetch.ingest.sources.fingerprints import fingerprint
from langgraph_prefetch.ingest.sources.formats import Opened, Reading
from langgraph_prefetch.ingest.sources.shapes import Document, Skipped

try:
    import orjson
except ImportError as error:
    raise MissingExtraError("orjson", "ingest") from error

_TOO_LONG = b""


def read_jsonl(opened: Opened) -> Iterator[Document | Skipped]:
    """A document for each line, in bounded memory. A line that is no such object is skipped, blank ones silently."""
    make = _Maker(opened.source, opened.reading)
    for number, line in enumerate(_lines(opened), start=1):
        if line is _TOO_LONG:
            yield Skipped(where=f"{opened.source}:{number}", reason=f"a line of more than {make.max_bytes:,} bytes")
        elif not line.isspace():
            try:
                yield make(line)
            except UnreadableDocumentError as error:
                yield Skipped(where=f"{opened.source}:{number}", reason=str(error))


class _Maker:
    """Makes documents of lines; what is the same for all of them is looked up once."""

    def __init__(self, source: str, reading: Reading) -> None:
        self.max_bytes = reading.max_bytes
        self._source = source
        self._reading = reading

    def __call__(self, line: bytes) -> Document:
        reading = self._reading
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise UnreadableDocumentError(f"not JSON: {error.msg} in column {error.colno}") from None
        if not isinstance(record, dict):
            raise UnreadableDocumentError(f"not a JSON object, but {_kind(record)}")
        text = record.pop(reading.text_field, None)
        if not isinstance(text, str):
            raise UnreadableDocumentError(f"no text in the field {reading.text_field!r}")
        text = text.strip()
        if not text:
            raise UnreadableDocumentError(BLANK)
        title = record.get(reading.title_field) if reading.title_field is not None else None
        if isinstance(title, str):
            text = reading.titled(title.strip(), text)
        if reading.metadata_fields is not None:
            record = {name: record[name] for name in reading.metadata_fields if name in record}
        if b"\\u0000" in line and ("\0" in text or b"\\u0000" in orjson.dumps(record).replace(rb"\\", b"")):
            raise UnreadableDocumentError(NUL)
        return Document(source=self._source, text=text, metadata=record, fingerprint=fingerprint(line))


def _lines(opened: Opened) -> Iterator[bytes]:
    """The lines of a file as UTF-8; ``_TOO_LONG`` in place of one that is too long to be held."""
    file = opened.file
    start = file.read(4)
    encoding = marked_encoding(start) or opened.reading.encoding
    file.seek(3 if encoding == "utf-8-sig" and start.startswith(b"\xef\xbb\xbf") else 0)
    if encoding is None or encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig"):
        yield from _short_enough(file, opened.reading.max_bytes)
        return
    try:
        with io.TextIOWrapper(file, encoding, newline="\n") as decoded:
            yield from (line.encode("utf-8", "surrogatepass") for line in decoded)
    except UnicodeError as error:
        raise UnreadableDocumentError(f"not {encoding}: {error}") from error
    except LookupError as error:
        raise UnreadableDocumentError(f"there is no encoding {encoding!r}") from error


def _short_enough(file: IO[bytes], limit: int) -> Iterator[bytes]:
    while line := file.readline(limit + 1):
        if len(line) <= limit:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(limit + 1)
        yield _TOO_LONG


def _kind(value: Any) -> str:
    names = {list: "an array", str: "a string", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")
