"""An embedding service that costs no computation worth the name: fixed vectors, a fixed delay for each request."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from typing import Any

import numpy as np

DIMENSIONS = 384
MAX_ITEMS = 2_048
"""Most texts in one request, as hosted services have it."""

_PARTS, _EACH = 4, 4_096


@cache
def _parts() -> Any:
    """For each quarter of a vector so many to choose from, each half as long as the vector."""
    made = np.random.default_rng(7).standard_normal((_PARTS, _EACH, DIMENSIONS // _PARTS), dtype=np.float32)
    return made / np.linalg.norm(made, axis=2, keepdims=True) / 2


def vectors(texts: Sequence[str]) -> Any:
    """The vectors of texts, shape ``(len(texts), 384)``, float32, of length one; told by the texts alone.

    Nothing but one hash of a text and one look into a table: what is measured is what surrounds an embedder.
    """
    digests = b"".join([blake2b(text.encode(), digest_size=8).digest() for text in texts])
    picks = np.frombuffer(digests, dtype="<u2").reshape(-1, _PARTS) % _EACH
    return _parts()[np.arange(_PARTS), picks].reshape(-1, DIMENSIONS)


class Service:
    """Answers requests after ``seconds``, any number at once.

    Attributes:
        requests: how many there were.
        most: how many were under way at once.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.requests = self.most = self._under_way = 0
        self._lock = threading.Lock()
        _parts()  # before anyone's clock starts

    def embed(self, texts: Sequence[str]) -> Any:
        """One request."""
        with self._request(texts):
            if self.seconds:
                time.sleep(self.seconds)
            return vectors(texts)

    async def aembed(self, texts: Sequence[str]) -> Any:
        """One request, without blocking the loop."""
        with self._request(texts):
            if self.seconds:
                await asyncio.sleep(self.seconds)
            return vectors(texts)

    @contextmanager
    def _request(self, texts: Sequence[str]) -> Iterator[None]:
        if len(texts) > MAX_ITEMS:
            raise ValueError(f"a request of {len(texts):,} texts; the service takes {MAX_ITEMS:,}")
        with self._lock:
            self.requests += 1
            self._under_way += 1
            self.most = max(self.most, self._under_way)
        try:
            yield
        finally:
            with self._lock:
                self._under_way -= 1
