"""Bounded serving on recorded runs, from files to figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.evaluation.near.figures import NearFigures, near_figures
from langgraph_prefetch.evaluation.near.observed import Played
from langgraph_prefetch.evaluation.near.play import NearPlayer
from langgraph_prefetch.evaluation.near.rivals import Arm, arms
from langgraph_prefetch.evaluation.near.store import open_store
from langgraph_prefetch.evaluation.traces import Recording
from langgraph_prefetch.intent.cues import CueSet, default_cues
from langgraph_prefetch.near.settings import NearSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedReplay:
    """What is to be replayed.

    Attributes:
        corpus: files of passages.
        embedder: a name, or ``module:object``.
        near: the bound, and how much is fetched.
        k: how many passages a call asks for.
        splits: random halvings of the questions.
        seed: of all that is random.
        cache: a folder for vectors, so that texts are embedded once; None for none.
        tools: the recorded actions that are search calls.
    """

    corpus: tuple[str, ...]
    embedder: str
    near: NearSettings
    k: int = 5
    splits: int = 100
    seed: int = 0
    cache: Path | None = None
    tools: tuple[str, ...] = ("search",)

    def __post_init__(self) -> None:
        require_at_least("k", self.k, 1)
        require_at_least("splits", self.splits, 1)
        if not self.corpus:
            raise ConfigurationError("bounded serving is measured against passages: give --corpus FILE …")


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedResult:
    """The figures of each file and of all together, the other ways, and what fetching took."""

    figures: tuple[NearFigures, ...]
    rivals: tuple[Arm, ...]
    played: Played
    passages: int
    dimensions: int
    identity: str

    def cost(self) -> dict[str, float]:
        """A step: fetches, vectors' bytes, and anchor texts embedded."""
        steps = max(1, self.played.steps)
        return {
            "fetches_per_step": round(self.played.fetches / steps, 3),
            "vector_bytes_per_step": round(self.played.passages * self.dimensions * 4 / steps),
            "embedded_texts_per_step": round(self.played.embedded / steps, 3),
        }

    def settings_as_json(self, settings: BoundedReplay) -> dict[str, Any]:
        """What the figures hold for."""
        return {
            "embedder": settings.embedder,
            "n": settings.near.n,
            "anchors": settings.near.anchors,
            "epsilon": settings.near.epsilon,
            "confidence": settings.near.confidence,
            "k": settings.k,
            "passages": self.passages,
            "splits": settings.splits,
            **self.cost(),
        }


def replay_bounded(
    recordings: Sequence[Recording],
    settings: BoundedReplay,
    *,
    cues: CueSet | None = None,
    on_text: Callable[[int], None] = lambda count: None,
    on_episode: Callable[[], None] = lambda: None,
) -> BoundedResult:
    """Embed, play, split and count.

    Args:
        recordings: the runs.
        settings: the rest.
        cues: the language of intent; the cues that come with the package if None.
        on_text: called with how many texts have just been embedded.
        on_episode: called after each episode.

    Raises:
        TraceFileError: a file cannot be read.
        ConfigurationError: there is no such embedder, or it is of no use; or no search call was recorded.
        MissingExtraError: it needs a library that is not installed.
    """
    store = open_store(settings.corpus, settings.embedder, settings.cache, on_text)
    source, vectors = store.source, store.vectors
    player = NearPlayer(
        source=source,
        vectors=vectors,
        settings=settings.near,
        k=settings.k,
        tools=settings.tools,
        cues=default_cues() if cues is None else cues,
    )
    played = player.play(recordings, on_episode)
    vectors.save()
    if not played.calls:
        raise ConfigurationError(f"no search call was recorded; search calls are: {', '.join(settings.tools)}")
    rivals = tuple(arms(played.calls, source, vectors, k=settings.k, seed=settings.seed))
    vectors.save()
    return BoundedResult(
        figures=near_figures(played, settings.near, splits=settings.splits, seed=settings.seed),
        rivals=rivals,
        played=played,
        passages=len(store.texts),
        dimensions=source.dimensions,
        identity=store.identity,
    )
