"""Other ways to answer early, on the same calls: how often each does, and with how many wrong sets.

Each sees the calls in recorded order and, but for the exact ones, hands over some other text's results as they are.

- **exact**: a guess of the reader is the very query.
- **cosine cache**: the results of the most similar earlier query, where its cosine is at least a fixed value (the
  usual semantic cache, such as GPTCache).
- **stale window**: a search for the latest ``WINDOW`` tokens every ``STRIDE`` tokens of the thought, the last one's
  results served as they are (Jiang et al., *PipeRAG: fast retrieval-augmented generation via algorithm-system
  co-design*, 2024).
- **guessed query**: the results of the likeliest guess, or of the last one of a step without any.
- **vCache**: a semantic cache with a threshold learned for each cached query (Schroeder et al., *vCache: verified
  semantic prompt caching*, 2025), written from the paper: see :mod:`~langgraph_prefetch.evaluation.near.vcache`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph_prefetch.evaluation.near.observed import Observed
from langgraph_prefetch.evaluation.near.vcache import VCache
from langgraph_prefetch.evaluation.near.vectors import Vectors
from langgraph_prefetch.evaluation.tokens import cut
from langgraph_prefetch.near._numpy import np
from langgraph_prefetch.near.geometry import Matrix, Vector
from langgraph_prefetch.near.source import MemorySource

STRIDE, WINDOW = 16, 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one call got: ``hit``, and then whether its set was ``wrong``; ``score`` is larger where it is surer."""

    hit: bool
    wrong: bool = False
    score: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One way, over all calls in order."""

    name: str
    answers: tuple[Answer, ...]

    @property
    def hits(self) -> float:
        """Calls answered, as a share of all."""
        return sum(each.hit for each in self.answers) / max(1, len(self.answers))

    @property
    def wrong_set_rate(self) -> float:
        """Wrong sets among the answers."""
        return sum(each.wrong for each in self.answers) / max(1, sum(each.hit for each in self.answers))

    def best_share(self, rate: float) -> float:
        """The largest share of calls that a threshold of its score, chosen in hindsight, answers at ``rate``."""
        best = hits = wrong = 0
        ordered = sorted((each for each in self.answers if each.hit), key=lambda each: -each.score)
        for at, each in enumerate(ordered):
            hits, wrong = hits + 1, wrong + each.wrong
            last_of_its_score = at + 1 == len(ordered) or ordered[at + 1].score < each.score
            if last_of_its_score and wrong <= rate * hits:
                best = hits
        return best / max(1, len(self.answers))

    def as_json(self) -> dict[str, Any]:
        """Its name, hits, wrong-set rate, and the shares that a threshold chosen in hindsight answers."""
        best = {f"best_share_at_{rate:g}": round(self.best_share(rate), 6) for rate in (0.01, 0.02)}
        return {"name": self.name, "hits": round(self.hits, 6), "wrong_set_rate": round(self.wrong_set_rate, 6), **best}


def arms(calls: Sequence[Observed], source: MemorySource, vectors: Vectors, *, k: int, seed: int) -> Iterator[Arm]:
    """Every rival on ``calls``."""
    queries = vectors.of([call.query for call in calls])
    units = queries / np.maximum(np.linalg.norm(queries, axis=1, keepdims=True), 1e-12)
    yield Arm(name="exact, from reasoning", answers=tuple(Answer(hit=call.query in call.guesses) for call in calls))
    nearest = [_nearest_before(units, at) for at in range(len(calls))]
    for least in (0.9, 0.95):
        yield Arm(name=f"cosine cache {least:g}", answers=tuple(_cached(calls, units, least)))
    yield Arm(name="cosine cache, any", answers=tuple(_similar(calls, nearest)))
    yield Arm(name=f"stale window, every {STRIDE} tokens", answers=tuple(_stale(calls, source, vectors, queries, k)))
    yield Arm(name="guessed query's results", answers=tuple(_guessed(calls, source, vectors, queries, k)))
    for delta in (0.01, 0.02):
        yield Arm(name=f"vCache {delta:g}", answers=tuple(_vcache(calls, nearest, delta, seed)))


def _nearest_before(units: Matrix, at: int) -> tuple[int, float] | None:
    if not at:
        return None
    cosines = units[:at] @ units[at]
    best = int(cosines.argmax())
    return best, float(cosines[best])


def _cached(calls: Sequence[Observed], units: Matrix, least: float) -> Iterator[Answer]:
    """Only what was searched is in the cache: an answered call adds nothing."""
    kept: list[int] = []
    for at, call in enumerate(calls):
        cosines = units[kept] @ units[at] if kept else np.zeros(0, dtype=np.float32)
        best = int(cosines.argmax()) if kept else -1
        if kept and cosines[best] >= least:
            yield Answer(hit=True, wrong=_differ(calls[kept[best]].right, call.right), score=float(cosines[best]))
        else:
            kept.append(at)
            yield Answer(hit=False)


def _similar(calls: Sequence[Observed], nearest: Sequence[tuple[int, float] | None]) -> Iterator[Answer]:
    for call, found in zip(calls, nearest, strict=True):
        if found is None:
            yield Answer(hit=False)
        else:
            yield Answer(hit=True, wrong=_differ(calls[found[0]].right, call.right), score=found[1])


def _stale(
    calls: Sequence[Observed], source: MemorySource, vectors: Vectors, queries: Matrix, k: int
) -> Iterator[Answer]:
    windows = []
    for call in calls:
        tokens = cut(call.thought)
        end = len(tokens) - len(tokens) % STRIDE
        windows.append("".join(tokens[max(0, end - WINDOW) : end]).strip())
    yield from _instead(calls, windows, source, vectors, queries, k)


def _guessed(
    calls: Sequence[Observed], source: MemorySource, vectors: Vectors, queries: Matrix, k: int
) -> Iterator[Answer]:
    texts = [call.guesses[0] if call.guesses else "" for call in calls]
    yield from _instead(calls, texts, source, vectors, queries, k)


def _instead(
    calls: Sequence[Observed],
    texts: Sequence[str],
    source: MemorySource,
    vectors: Vectors,
    queries: Matrix,
    k: int,
) -> Iterator[Answer]:
    """Each call is given the results of a text; none where that is empty."""
    vectors.of([text for text in texts if text] or [calls[0].query])
    found: dict[str, tuple[str, ...]] = {}
    for call, text, query in zip(calls, texts, queries, strict=True):
        if not text:
            yield Answer(hit=False)
            continue
        if text not in found:
            found[text] = source.search(vectors[text], k)
        yield Answer(hit=True, wrong=_differ(found[text], call.right), score=_cosine(vectors[text], query))


def _vcache(
    calls: Sequence[Observed], nearest: Sequence[tuple[int, float] | None], delta: float, seed: int
) -> Iterator[Answer]:
    cache, chance = VCache(delta), random.Random(seed)  # noqa: S311 - no secret
    for call, found in zip(calls, nearest, strict=True):
        if found is None:
            yield Answer(hit=False)
            continue
        entry, similarity = found
        wrong = _differ(calls[entry].right, call.right)
        if cache.exploits(entry, similarity, chance.random()):
            yield Answer(hit=True, wrong=wrong, score=similarity)
        else:
            cache.learn(entry, similarity, right=not wrong)
            yield Answer(hit=False)


def _differ(some: Sequence[str], others: Sequence[str]) -> bool:
    return set(some) != set(others)


def _cosine(one: Vector, other: Vector) -> float:
    return float(one @ other / max(1e-12, float(np.linalg.norm(one) * np.linalg.norm(other))))
