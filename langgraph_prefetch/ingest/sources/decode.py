"""Bytes as text, without guessing: what says how it is encoded is believed, everything else must be UTF-8."""

from __future__ import annotations

import codecs

from langgraph_prefetch.errors import UnreadableDocumentError

_MARKS = (  # the longer first: UTF-32's begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

NUL = "holds a NUL character, which PostgreSQL cannot store"
BLANK = "no text in it"


def marked_encoding(data: bytes) -> str | None:
    """The encoding that a byte order mark at the start names."""
    return next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)


def decode(data: bytes, encoding: str | None = None) -> str:
    """The text; lines end with a line feed, whatever they ended with.

    Args:
        data: the whole of it.
        encoding: what it is said to be where no byte order mark tells; UTF-8 if None.

    Raises:
        UnreadableDocumentError: it is not, or it is no text.
    """
    encoding = marked_encoding(data) or encoding or "utf-8"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableDocumentError(
            f"not {encoding}: byte 0x{data[error.start]:02x} in line {line}; convert it, or say its encoding"
        ) from error
    except LookupError as error:
        raise UnreadableDocumentError(f"there is no encoding {encoding!r}") from error
    except UnicodeError as error:  # what codecs other than Unicode's own raise
        raise UnreadableDocumentError(f"not {encoding}: {error}") from error
    if "\0" in text:
        raise UnreadableDocumentError(f"{NUL}: a binary file, or UTF-16 without a byte order mark")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def encodable(text: str) -> bool:
    """Whether a text is free of lone surrogates, which no encoding has a form for."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
