"""JSON, one object a line: each line is a document."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, Any

from langgraph_prefetch.errors import MissingExtraError, UnreadableDocumentError
from langgraph_prefetch.ingest.sources.columns import MOST_CHARS, MOST_DOCUMENTS, Documents
from langgraph_prefetch.ingest.sources.decode import BLANK, NUL, marked_encoding
from langgraph_prefetch.ingest.sources.formats import Opened, Reading
from langgraph_prefetch.ingest.sources.metadata import holds_nul, written_at_once
from langgraph_prefetch.ingest.sources.shapes import Skipped

try:
    import orjson
except ImportError as error:
    raise MissingExtraError("orjson", "ingest") from error


def read_jsonl(opened: Opened) -> Iterator[Documents | Skipped]:
    """A document for each line, in bounded memory. A line that is no such object is skipped, blank ones silently."""
    make, limit = _maker(opened.reading), opened.reading.max_bytes
    texts: list[str] = []
    records: list[dict[str, Any]] = []
    chars = 0
    lines = _lines(opened)
    for number, line in enumerate(lines, start=1):
        if len(line) > limit:
            yield Skipped(where=f"{opened.source}:{number}", reason=f"a line of more than {limit:,} bytes")
            while line and not line.endswith(b"\n"):
                line = next(lines, b"")  # the rest of it
            continue
        try:
            text, record = make(line)
        except UnreadableDocumentError as error:
            if not line.isspace():
                yield Skipped(where=f"{opened.source}:{number}", reason=str(error))
            continue
        texts.append(text)
        records.append(record)
        chars += len(line)
        if chars >= MOST_CHARS or len(texts) >= MOST_DOCUMENTS:
            yield Documents.of_source(opened.source, texts, _metadatas(records))
            texts, records, chars = [], [], 0
    if texts:
        yield Documents.of_source(opened.source, texts, _metadatas(records))


def _metadatas(records: list[dict[str, Any]]) -> list[bytes]:
    written = written_at_once(records, None, orjson.OPT_SORT_KEYS)
    return written or [orjson.dumps(record, None, orjson.OPT_SORT_KEYS) for record in records]


def _maker(reading: Reading) -> Callable[[bytes], tuple[str, dict[str, Any]]]:
    """Makes text and metadata of lines; what is the same for all is looked up once, since there may be millions."""
    text_field, title_field, kept = reading.text_field, reading.title_field, reading.metadata_fields
    titled, loads = reading.titled, orjson.loads

    def make(line: bytes) -> tuple[str, dict[str, Any]]:
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
        # In this order since it is dear and hardly ever there: this escape, the character.
        if b"\\u0000" in line and ("\0" in text or holds_nul(orjson.dumps(record))):
            raise UnreadableDocumentError(NUL)
        return text, record

    return make


def _lines(opened: Opened) -> Iterator[bytes]:
    """The lines of a file as UTF-8; one that is too long to be held comes in pieces, as long as may be."""
    file = opened.file
    start = file.read(4)
    encoding = marked_encoding(start) or opened.reading.encoding
    file.seek(3 if encoding == "utf-8-sig" and start.startswith(b"\xef\xbb\xbf") else 0)
    if encoding is None or encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig"):
        return iter(partial(file.readline, opened.reading.max_bytes + 1), b"")
    return _recoded(file, encoding)


def _recoded(file: IO[bytes], encoding: str) -> Iterator[bytes]:
    try:
        with io.TextIOWrapper(file, encoding, newline="\n") as decoded:
            yield from (line.encode("utf-8", "surrogatepass") for line in decoded)
    except UnicodeError as error:
        raise UnreadableDocumentError(f"not {encoding}: {error}") from error
    except LookupError as error:
        raise UnreadableDocumentError(f"there is no encoding {encoding!r}") from error


def _kind(value: Any) -> str:
    names = {list: "an array", str: "a string", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")
