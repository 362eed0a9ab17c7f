"""Near misses: the local answer's time, and what a growing corpus does: ``python benchmarks/near.py``.

With recordings and passages (``--recordings FILE … --corpus FILE …``) it also measures how the share of right and of
accepted answers falls as the corpus grows, and which N restores it. Corpora larger than the passages given are filled
up with distractors: vectors halfway between two random passages, moved a little.
"""

import argparse
import dataclasses
import statistics
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from langgraph_prefetch.evaluation.near.corpus import read_corpus
from langgraph_prefetch.evaluation.near.figures import near_figures
from langgraph_prefetch.evaluation.near.play import NearPlayer
from langgraph_prefetch.evaluation.near.rivals import Answer, Arm
from langgraph_prefetch.evaluation.near.store import as_matrix_of, cache_file
from langgraph_prefetch.evaluation.near.vectors import Vectors
from langgraph_prefetch.evaluation.traces import Recording, read_recording
from langgraph_prefetch.near.controls import Controls
from langgraph_prefetch.near.run import NearRun
from langgraph_prefetch.near.settings import NearSettings
from langgraph_prefetch.near.source import MemorySource
from langgraph_prefetch.passages import Neighbourhood
from langgraph_prefetch.retrieval.embedders import embedder

Array = NDArray[np.float32]
SHAPES = ((4, 500, 384), (4, 200, 384), (8, 500, 384), (4, 500, 1536), (16, 500, 384))


def local_answers(repeats: int) -> None:
    """Milliseconds from the query's vector to the answer, and bytes fetched."""
    print(f"local answer after the query's embedding, {repeats} each")
    rng = np.random.default_rng(0)
    for lists, n, dimensions in SHAPES:
        settings = NearSettings(n=n)
        run = NearRun(settings, Controls(settings), tool="search", scope=None)
        for number in range(lists):
            vectors = rng.normal(size=(n, dimensions)).astype(np.float32)
            source = MemorySource([f"{number}-{row}" for row in range(n)], vectors)
            run.add(source.neighbourhood(vectors[0], n))
        times: list[float] = []
        for _ in range(repeats):
            query = rng.normal(size=dimensions).astype(np.float32)
            began = time.perf_counter()
            run.answer(query, k=5, epoch=0, draw=0.5)
            times.append(1_000 * (time.perf_counter() - began))
        times.sort()
        size = lists * n * dimensions * 4 / 1e6
        print(
            f"  {lists} x {n} x {dimensions}: p50 {statistics.median(times):.2f} ms, "
            f"p95 {times[int(0.95 * len(times))]:.2f} ms, {size:.1f} MB of vectors"
        )


class Remembering(MemorySource):
    """Lists the most that will be asked for once, and hands out the beginning of that."""

    def __init__(self, vectors: Array, most: int) -> None:
        width = len(str(len(vectors)))
        super().__init__([f"{row:0{width}d}" for row in range(len(vectors))], vectors)
        self._most, self._lists = most, dict[bytes, Neighbourhood]()

    def neighbourhood(self, anchor: Array, n: int) -> Neighbourhood:
        """As that of the store."""
        if n < 50:
            return super().neighbourhood(anchor, n)
        key = anchor.tobytes()
        if key not in self._lists:
            found = super().neighbourhood(anchor, self._most)
            self._lists[key] = dataclasses.replace(found, vectors=found.vectors[:0])
        whole = self._lists[key]
        ids = whole.ids[:n]
        return dataclasses.replace(
            whole,
            ids=ids,
            texts=whole.texts[:n],
            metadatas=whole.metadatas[:n],
            vectors=self._vectors[[int(name) for name in ids]],
        )


def filled_up(vectors: Array, size: int, rng: np.random.Generator) -> Array:
    """A random part of the passages, or all of them and distractors."""
    if size <= len(vectors):
        return vectors[np.sort(rng.choice(len(vectors), size, replace=False))]
    more = size - len(vectors)
    one, other = vectors[rng.integers(0, len(vectors), more)], vectors[rng.integers(0, len(vectors), more)]
    # Nearer to one of the two it would be a copy of it, and a top k of copies is easier to find, not harder.
    share = rng.uniform(0.4, 0.6, size=(more, 1)).astype(np.float32)
    noise = rng.normal(size=one.shape).astype(np.float32) * np.float32(0.3 / np.sqrt(one.shape[1]))
    mixed = share * one + (1 - share) * other + noise
    return np.vstack([vectors, mixed / np.linalg.norm(mixed, axis=1, keepdims=True)])


def growth(recordings: list[Recording], arguments: argparse.Namespace) -> None:
    """The shares by size of the corpus and N."""
    texts = read_corpus(arguments.corpus)
    made = embedder(arguments.embedder)
    cache = cache_file(arguments.embedding_cache, str(getattr(made, "identity", arguments.embedder)))
    vectors = Vectors(as_matrix_of(made), file=cache)
    stored = vectors.of(texts)
    print(
        f"{arguments.embedder}, {len(texts)} passages, first {arguments.limit_episodes} episodes of each recording, "
        f"epsilon {arguments.epsilon:g}, {arguments.splits} splits"
    )
    for size in arguments.sizes:
        source = Remembering(filled_up(stored, size, np.random.default_rng(arguments.seed)), max(arguments.n))
        for n in arguments.n:
            settings = NearSettings(n=n, anchors=arguments.anchors, epsilon=arguments.epsilon)
            player = NearPlayer(source=source, vectors=vectors, settings=settings, k=5, tools=("search",))
            played = player.play(recordings)
            ours = Arm(
                name="reach",
                answers=tuple(Answer(hit=True, wrong=each.wrong, score=each.reach) for each in played.calls),
            )
            together = near_figures(played, settings, splits=arguments.splits, seed=arguments.seed)[-1]
            print(
                f"  {len(source):7d} passages, N {n:5d}: right {together.right_share:.3f}, "
                f"at most {arguments.epsilon:g} wrong in hindsight {ours.best_share(arguments.epsilon):.3f}, "
                f"accepted {together.accepted_share:.3f} (proved {together.proved_share:.3f}), "
                f"wrong sets {together.wrong_set_rate:.4f}, recall@5 {together.recall_at_k:.4f}, "
                f"{played.passages * source.dimensions * 4 / played.steps / 1e6:.2f} MB a step",
                flush=True,
            )
        vectors.save()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--repeats", type=int, default=500)
    add("--recordings", nargs="*", default=[], metavar="FILE")
    add("--corpus", nargs="*", default=[], metavar="FILE")
    add("--embedder", default="wordllama")
    add("--embedding-cache", type=Path, metavar="FOLDER")
    add("--sizes", nargs="*", type=int, default=[2_000, 5_000, 18_000, 200_000])
    add("--n", nargs="*", type=int, default=[200, 500, 1_000, 2_000])
    add("--anchors", type=int, default=4)
    add("--epsilon", type=float, default=0.02)
    add("--splits", type=int, default=30)
    add("--limit-episodes", type=int, default=60)
    add("--seed", type=int, default=0)
    arguments = parser.parse_args()
    local_answers(arguments.repeats)
    if not arguments.recordings or not arguments.corpus:
        print("names no recordings and passages: growth is not measured")
        return
    recordings = [read_recording(file) for file in arguments.recordings]
    growth(
        [dataclasses.replace(each, episodes=each.episodes[: arguments.limit_episodes]) for each in recordings],
        arguments,
    )


if __name__ == "__main__":
    main()
