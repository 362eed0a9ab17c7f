"""Amazon Bedrock ``Retrieve`` (knowledge bases) and ``InvokeModel`` for embeddings. Pure."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langgraph_prefetch.testing.wire.dialect import Reply

DEFAULT_RESULTS = 5
DEFAULT_DIMENSIONS = 256

_RETRIEVE = re.compile(r"/knowledgebases/(?P<base>.+)/retrieve")
_INVOKE = re.compile(r"/model/(?P<model>.+)/invoke")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One passage of a knowledge base, and where it is from."""

    text: str
    source: str = "s3://documents/passage.txt"
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)


Search = Callable[[str, str], Sequence[tuple[Passage, float]]]
"""From a knowledge base's id and a query to passages with their scores, the best first."""

Embed = Callable[[str, int], Sequence[float]]
"""From a text and a number of dimensions to a vector."""


def by_words(passages: Iterable[Passage | str]) -> Search:
    """A search that scores passages by the share of the query's words that stand in them; those without any are out."""
    held = [Passage(text=each) if isinstance(each, str) else each for each in passages]

    def search(base_id: str, query: str) -> list[tuple[Passage, float]]:
        asked = set(_words(query))
        scored = [(each, len(asked & set(_words(each.text))) / max(1, len(asked))) for each in held]
        return sorted(((each, score) for each, score in scored if score), key=lambda pair: -pair[1])

    return search


def hashed_words(text: str, dimensions: int) -> list[float]:
    """A vector of length 1 in which texts that share words are near each other; the same in every process."""
    vector = [0.0] * dimensions
    for word in _words(text):
        digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
        vector[int.from_bytes(digest[:4], "big") % dimensions] += 1.0 if digest[4] % 2 else -1.0
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector] if length else [1.0, *vector[1:]]


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def retrieve(path: str, body: Mapping[str, Any], search: Search) -> Reply | None:
    """The answer to ``Retrieve``; None: it is another route."""
    route = _RETRIEVE.fullmatch(path)
    if route is None:
        return None
    query = str((body.get("retrievalQuery") or {}).get("text", ""))
    settings = body.get("retrievalConfiguration") or {}
    wanted = settings.get("vectorSearchConfiguration") or settings.get("managedSearchConfiguration") or {}
    found = search(route["base"], query)[: wanted.get("numberOfResults") or DEFAULT_RESULTS]
    results = [
        {
            "content": {"text": passage.text, "type": "TEXT"},
            "location": {"type": "S3", "s3Location": {"uri": passage.source}},
            "score": score,
            "metadata": {**passage.metadata, "x-amz-bedrock-kb-source-uri": passage.source},
        }
        for passage, score in found
    ]
    return Reply(200, json.dumps({"retrievalResults": results}).encode())


def embedded(path: str, body: Mapping[str, Any], embed: Embed) -> Reply | None:
    """The answer to ``InvokeModel`` of an embedding model; None: it is another route, or asks for no embedding.

    A request with ``inputText`` is answered as Titan does, one with ``texts`` as Cohere does.
    """
    route = _INVOKE.fullmatch(path)
    if route is None or not ("inputText" in body or "texts" in body):
        return None
    if "inputText" in body:
        size = int(body.get("dimensions") or body.get("embeddingConfig", {}).get("outputEmbeddingLength") or 0)
        vector = list(embed(str(body["inputText"]), size or DEFAULT_DIMENSIONS))
        answer = {"embedding": vector, "inputTextTokenCount": len(_words(str(body["inputText"])))}
        return Reply(200, json.dumps(answer).encode())
    size = int(body.get("output_dimension") or DEFAULT_DIMENSIONS)
    vectors = [list(embed(str(text), size)) for text in body["texts"]]
    kinds = body.get("embedding_types")
    embeddings = dict.fromkeys(kinds, vectors) if kinds else vectors
    kind = "embeddings_by_type" if kinds else "embeddings_floats"
    told = {"id": "scripted", "response_type": kind, "texts": list(body["texts"]), "embeddings": embeddings}
    return Reply(200, json.dumps(told).encode())
