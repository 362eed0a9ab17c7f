"""WordLlama's static vectors: meanings of words without a neural network. Needs the extra ``wordllama``."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from langgraph_prefetch.errors import MissingExtraError
from langgraph_prefetch.retrieval.embedders.base import UnitEmbeddings, to_unit_length


def _import_quietly() -> Any:
    # Importing it calls logging.basicConfig(level=INFO), which does nothing where the root logger has a handler.
    root, guard = logging.getLogger(), logging.NullHandler()
    root.addHandler(guard)
    try:
        import wordllama
    except ImportError as error:
        raise MissingExtraError("wordllama", "wordllama") from error
    finally:
        root.removeHandler(guard)
    return wordllama


_wordllama = _import_quietly()


class WordLlamaEmbeddings(UnitEmbeddings):
    """The mean of the static vectors of a text's tokens, of WordLlama's model of 256 dimensions, which its wheel holds.

    Far better than hashing and a hundred times as fast as a transformer; word order counts for nothing. Nothing is
    downloaded. Loading takes 0.4 s and 130 MB.
    """

    def __init__(self) -> None:
        spec = find_spec("wordllama")
        assert spec is not None
        assert spec.origin is not None
        # It would look for the tokenizer elsewhere, and then on a hub: its own folder is given as the cache.
        model = _wordllama.WordLlama.load(cache_dir=Path(spec.origin).parent, disable_download=True)
        self._vectors: NDArray[np.float32] = np.asarray(model.embedding, dtype=np.float32)
        model.tokenizer.no_padding()
        self._encode: Callable[..., Any] = model.tokenizer.encode

    def __reduce__(self) -> tuple[type[WordLlamaEmbeddings], tuple[()]]:
        return type(self), ()  # loaded anew where it is sent, rather than sent

    @property
    def identity(self) -> str:
        """The library's version and the model."""
        return f"wordllama/{version('wordllama')} l2_supercat {self.dimensions}"

    @property
    def dimensions(self) -> int:
        """The length of a vector: 256."""
        return int(self._vectors.shape[1])

    def embed_matrix(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of texts, shape ``(len(texts), dimensions)``."""
        made = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            # One by one: encoding a batch starts threads, of which a process that forks later is warned.
            ids = self._encode(text, add_special_tokens=False).ids
            if ids:
                known = np.minimum(np.array(ids, dtype=np.int32), len(self._vectors) - 1)
                self._vectors[known].mean(axis=0, out=made[row])
        return to_unit_length(made)
