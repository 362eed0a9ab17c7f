"""The options of ``Reading`` as keywords, for editors and type checkers."""

from __future__ import annotations

from typing import Literal, TypedDict

from langgraph_prefetch.ingest.sources.formats import Format


class ReadingOptions(TypedDict, total=False):
    """See ``Reading``, whose fields these are."""

    format: Format | Literal["auto"]
    encoding: str | None
    max_bytes: int
    follow_links: bool
    text_field: str
    title_field: str | None
    metadata_fields: tuple[str, ...] | None
    title_in_text: bool
