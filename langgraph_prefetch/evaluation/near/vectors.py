"""Vectors of texts, each embedded once: in memory, and in a file from one replay to the next."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from langgraph_prefetch.errors import TraceFileError
from langgraph_prefetch.near._numpy import np
from langgraph_prefetch.near.geometry import Matrix, Vector

_BATCH = 32


class Vectors:
    """Remembers what ``embed`` gave.

    Args:
        embed: texts to vectors, one row a text.
        file: where they are kept between replays (``.npz``, numbers and nothing else); None for nowhere.
        on_text: called with how many texts have just been embedded.

    Raises:
        TraceFileError: the file is not one that was written here.
    """

    def __init__(
        self,
        embed: Callable[[Sequence[str]], Matrix],
        *,
        file: Path | None = None,
        on_text: Callable[[int], None] = lambda count: None,
    ) -> None:
        self._embed, self._file, self._on_text = embed, file, on_text
        self._known = _read(file) if file is not None and file.exists() else {}
        self._saved = len(self._known)

    def __getitem__(self, text: str) -> Vector:
        if text not in self._known:
            self._learn([text])
        return self._known[text]

    def of(self, texts: Sequence[str]) -> Matrix:
        """One row a text."""
        missing = sorted({text for text in texts if text not in self._known}, key=len)
        for start in range(0, len(missing), _BATCH):
            self._learn(missing[start : start + _BATCH])
        return np.stack([self._known[text] for text in texts])

    def save(self) -> None:
        """Write all that is known, if there is more than was read."""
        if self._file is None or len(self._known) == self._saved:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=self._file.parent, suffix=".npz", delete=False) as file:
            texts = json.dumps(list(self._known)).encode()
            np.savez(file, texts=np.frombuffer(texts, dtype=np.uint8), vectors=np.stack(list(self._known.values())))
        os.replace(file.name, self._file)  # so that a replay that is stopped leaves the old file or the new one
        self._saved = len(self._known)

    def _learn(self, texts: Sequence[str]) -> None:
        vectors = np.asarray(self._embed(texts), dtype=np.float32)
        self._known.update(zip(texts, vectors, strict=True))
        self._on_text(len(texts))


def _read(file: Path) -> dict[str, Vector]:
    try:
        with np.load(file, allow_pickle=False) as held:
            texts = json.loads(held["texts"].tobytes().decode())
            return dict(zip(texts, held["vectors"], strict=True))
    except (OSError, ValueError, KeyError, UnicodeDecodeError) as error:
        raise TraceFileError(str(file), "no file of vectors; delete it, and it is made anew") from error
