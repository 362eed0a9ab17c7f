"""Whatever may be handed in as a source, as one."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import chain
from typing import Any

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document as LangChainDocument

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.ingest.sources.files import files
from langgraph_prefetch.ingest.sources.langchain import DocumentSource
from langgraph_prefetch.ingest.sources.shapes import Document, Source


def as_source(given: Any) -> Source:
    """A source as it is; one or several paths; a LangChain loader; LangChain documents or ours.

    Raises:
        ConfigurationError: it is none of these, or a path does not exist.
    """
    if isinstance(given, str | os.PathLike):
        return files(given)
    if isinstance(given, BaseLoader):
        return DocumentSource(documents=given)
    if isinstance(given, LangChainDocument | Document):
        return DocumentSource(documents=[given])
    if isinstance(given, Source):
        return given
    if isinstance(given, Iterable) and not isinstance(given, bytes | dict):
        return _of_items(given)
    raise _wrong(given)


def _of_items(given: Iterable[Any]) -> Source:
    items = iter(given)
    first = next(items, None)
    if first is None:
        return DocumentSource(documents=[])
    if isinstance(first, str | os.PathLike):
        return files(first, *items)
    if isinstance(first, LangChainDocument | Document):
        return DocumentSource(documents=given if isinstance(given, list | tuple) else chain([first], items))
    raise _wrong(first)


def _wrong(given: object) -> ConfigurationError:
    return ConfigurationError(
        f"a source is a path, a LangChain loader, LangChain documents or an object with parts(), "
        f"not {type(given).__name__}"
    )
