"""Embedders by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from langchain_core.embeddings import Embeddings

from langgraph_prefetch.errors import ConfigurationError, did_you_mean
from langgraph_prefetch.retrieval.embedders.hashing import HashingEmbeddings


def _wordllama() -> Embeddings:
    from langgraph_prefetch.retrieval.embedders.wordllama import WordLlamaEmbeddings

    return WordLlamaEmbeddings()


def _minilm() -> Embeddings:
    from langgraph_prefetch.retrieval.embedders.minilm import MiniLMEmbeddings

    return MiniLMEmbeddings()


_NAMED: dict[str, Callable[[], Embeddings]] = {
    "hashing": HashingEmbeddings,
    "wordllama": _wordllama,
    "minilm": _minilm,
}
NAMES = tuple(_NAMED)


def embedder(name: str) -> Embeddings:
    """An embedder: ``"hashing"``, ``"wordllama"``, ``"minilm"``, or ``"module:object"``.

    The object is a LangChain ``Embeddings``, or a class or function without arguments that makes one.

    Raises:
        ConfigurationError: there is none of that name.
        MissingExtraError: it needs a library that is not installed.
    """
    if name in _NAMED:
        return _NAMED[name]()
    module, colon, path = name.partition(":")
    if not colon:
        hint = did_you_mean(name, NAMES)
        raise ConfigurationError(f"unknown embedder {name!r}. Known: {', '.join(NAMES)}, or module:object.{hint}")
    try:
        found: Any = importlib.import_module(module)
    except ImportError as error:
        raise ConfigurationError(f"embedder {name!r}: {error}") from error
    for part in path.split("."):
        if not hasattr(found, part):
            raise ConfigurationError(f"embedder {name!r}: {module} has no {path!r}")
        found = getattr(found, part)
    if not isinstance(found, Embeddings) and callable(found):
        found = found()
    if not isinstance(found, Embeddings):
        raise ConfigurationError(f"embedder {name!r} is no LangChain Embeddings, but {type(found).__name__}")
    return found
