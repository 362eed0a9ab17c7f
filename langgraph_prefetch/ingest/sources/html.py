"""HTML: the text that a reader of the page would see."""

from __future__ import annotations

import re
from collections.abc import Iterator

from langgraph_prefetch.errors import MissingExtraError, UnreadableDocumentError
from langgraph_prefetch.ingest.sources.decode import BLANK, NUL, decode, marked_encoding
from langgraph_prefetch.ingest.sources.fingerprints import fingerprint
from langgraph_prefetch.ingest.sources.formats import Opened
from langgraph_prefetch.ingest.sources.shapes import Document

try:
    from selectolax.lexbor import LexborHTMLParser
except ImportError as error:
    raise MissingExtraError("selectolax", "ingest") from error

_UNSEEN = ["script", "style", "noscript", "template", "iframe", "object", "svg", "canvas", "head"]
_BLOCKS = (
    "p, div, section, article, main, header, footer, nav, aside, h1, h2, h3, h4, h5, h6, ul, ol, dl, table, pre, "
    "blockquote, figure, form, fieldset, details, summary, hr, address"
)
_LINES = "br, li, tr, dt, dd, option, figcaption, caption"
_CELLS = "td, th"
# Private marks that stand for the ends of lines while the blanks of the source are folded; no page can hold them,
# since an HTML parser replaces or leaves out neither, so they are taken out first.
_BLOCK, _LINE, _BLANK, _CELL = "\x1c", "\x1d", "\x1e", "\x1f"
_MARKS = re.compile(f"[{_BLOCK}{_LINE}{_BLANK}{_CELL}]")
_RUN = re.compile(f"[ \\t\\n{_BLOCK}]+")  # runs whole, since one that begins with blanks is looked for at each of them
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.IGNORECASE)
_DECLARED_WITHIN = 1_024  # bytes, as browsers do


def read_html(opened: Opened) -> Iterator[Document]:
    """The file as one document, with the page's title."""
    data = opened.file.read()
    page = LexborHTMLParser(_MARKS.sub(" ", _decoded(data, opened.reading.encoding)))
    head = page.css_first("head > title")
    title = _folded(head.text(separator="")) if head is not None else ""
    text = _visible(page)
    if not text:
        raise UnreadableDocumentError(BLANK)
    if "\0" in text:
        raise UnreadableDocumentError(NUL)
    yield Document(
        source=opened.source,
        text=opened.reading.titled(title, text),
        metadata={"title": title} if title else {},
        fingerprint=fingerprint(data),
    )


def _decoded(data: bytes, encoding: str | None) -> str:
    declared = _CHARSET.search(data, 0, _DECLARED_WITHIN)
    if declared is None or marked_encoding(data) is not None:
        return decode(data, encoding)
    try:
        return decode(data)  # many pages that declare something else are UTF-8, and hardly any text is so by chance
    except UnreadableDocumentError:
        return decode(data, declared[1].decode("ascii", "replace"))


def _visible(page: LexborHTMLParser) -> str:
    if page.body is None:
        return ""
    page.strip_tags(_UNSEEN)
    for node in page.css("pre, textarea"):
        code = (node.text(separator="") or "").strip("\n")
        node.replace_with(code.replace("\n", _LINE).replace(" ", _BLANK).join((_BLOCK, _BLOCK)))
    for selector, mark in ((_BLOCKS, _BLOCK), (_LINES, _LINE), (_CELLS, _CELL)):
        for node in page.css(selector):
            node.insert_before(mark)
            if mark is _BLOCK:
                node.insert_after(mark)
    text = _folded(page.body.text(separator=""))
    text = re.sub(rf"[{_CELL} ]*{_CELL}[{_CELL} ]*", "\t", text)
    text = re.sub(rf"[ \t]*{_LINE}\t?[ ]*", "\n", text)
    text = _RUN.sub(_paragraphs_end, text)
    return text.replace(_BLANK, " ").strip()


def _paragraphs_end(run: re.Match[str]) -> str:
    return "\n\n" if _BLOCK in run[0] else run[0]


def _folded(text: str | None) -> str:
    return re.sub(r"[ \t\n\r\f\xa0]+", " ", text or "").strip(" ")
