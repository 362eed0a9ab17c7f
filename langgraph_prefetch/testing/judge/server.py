"""A judge behind a real HTTP server that speaks as OpenAI does: nothing leaves the machine, no model is needed."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import struct
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from langgraph_prefetch.testing.judge.behaviours import Behaviour, sensible
from langgraph_prefetch.testing.judge.claims import words
from langgraph_prefetch.testing.wire.dialect import Reply
from langgraph_prefetch.testing.wire.openai_chat import OpenAIWire

DIMENSIONS = 256


class JudgeServer(OpenAIWire):
    """``ChatOpenAI(base_url=f"{server.url}/v1", api_key="none")`` is the judge; ``/v1/embeddings`` embeds by words.

    Args:
        behaviour: how it judges; from :mod:`langgraph_prefetch.testing.judge.behaviours`, or your own.
        keep_alive: leave connections open after a reply, as providers do. Clients then keep them in pools.
    """

    def __init__(self, behaviour: Behaviour = sensible, *, keep_alive: bool = False, log_size: int = 10_000) -> None:
        super().__init__(behaviour, keep_alive=keep_alive, log_size=log_size)
        self.behaviour = behaviour

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        close = getattr(self.behaviour, "close", None)
        if close is not None:
            close()
        super().__exit__(kind, error, where)

    def elsewhere(self, path: str, body: Mapping[str, Any]) -> Reply | None:
        """The embeddings route."""
        if not path.endswith("/embeddings"):
            return None
        given = body.get("input", ())
        vectors = [embedded(str(text)) for text in ([given] if isinstance(given, str) else given)]
        as_base64 = body.get("encoding_format") == "base64"
        data = [
            {"object": "embedding", "index": index, "embedding": _base64(vector) if as_base64 else vector}
            for index, vector in enumerate(vectors)
        ]
        answer = {"object": "list", "data": data, "model": body.get("model", ""), "usage": _NO_TOKENS}
        return Reply(200, json.dumps(answer).encode())


_NO_TOKENS = {"prompt_tokens": 0, "total_tokens": 0}


def embedded(text: str) -> list[float]:
    """A unit vector of the words of a text, each hashed to a place; zeros for a text without words."""
    vector = [0.0] * DIMENSIONS
    for word in words(text):
        vector[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") % DIMENSIONS] += 1.0
    length = math.hypot(*vector)
    return [value / length for value in vector] if length else vector


def _base64(vector: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
