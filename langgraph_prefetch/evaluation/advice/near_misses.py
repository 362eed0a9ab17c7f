"""What near misses would add to exact answers: passages fetched around the thought, ranked for the real query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from langgraph_prefetch.evaluation.advice.figures import ModeFigures, Prices, RunCount, mode_figures
from langgraph_prefetch.evaluation.advice.rates import share
from langgraph_prefetch.evaluation.advice.recordings import recording_of
from langgraph_prefetch.evaluation.advice.tools import ToolFacts
from langgraph_prefetch.evaluation.advice.values import BOUNDED
from langgraph_prefetch.evaluation.importers.values import TracedRun
from langgraph_prefetch.intent.cues import CueSet

NEEDS_CORPUS = "needs what the tool searches: --corpus FILE …"
SPLITS = 50
"""Random halvings of the questions: calibrated on one half, counted on the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """What the tools search, for near misses.

    Attributes:
        files: of passages, one ``{"title", "text"}`` a line.
        embedder: a name, or ``module:object``.
        k: passages that a call asks for.
        epsilon: wrong sets, at most.
        cache: a folder for vectors; None for none.
    """

    files: tuple[str, ...]
    embedder: str = "hashing"
    k: int = 5
    epsilon: float = 0.01
    cache: Path | None = None


def bounded_mode(
    runs: Sequence[TracedRun],
    tool: ToolFacts,
    exact: Sequence[RunCount],
    *,
    corpus: Corpus | None,
    prices: Prices,
    cues: CueSet,
) -> ModeFigures:
    """Replay near misses. An accepted one counts as hiding all that is still waited for, so the seconds are at most.

    Args:
        runs: what was traced.
        tool: whose calls are looked at.
        exact: what exact answers alone hide in each run.
        corpus: what is searched; None: nothing can be measured.
        prices: of calls (a fetch counts as one) and seconds.
        cues: the language of intent.

    Raises:
        TraceFileError: a file of passages cannot be read.
        ConfigurationError: there is no such embedder, or it is of no use.
        MissingExtraError: a library is not installed.
    """
    if corpus is None:
        return ModeFigures(mode=BOUNDED, why_not=NEEDS_CORPUS)
    # These need numpy, which only who gives a corpus has to have installed.
    from langgraph_prefetch.evaluation.near.figures import near_figures
    from langgraph_prefetch.evaluation.near.play import NearPlayer
    from langgraph_prefetch.evaluation.near.store import open_store
    from langgraph_prefetch.near.settings import NearSettings

    recording = recording_of(runs, "traces", apart=True)
    near, store = NearSettings(epsilon=corpus.epsilon), open_store(corpus.files, corpus.embedder, corpus.cache)
    player = NearPlayer(
        source=store.source, vectors=store.vectors, settings=near, k=corpus.k, tools=(tool.name,), cues=cues
    )
    played = player.play([recording])
    store.vectors.save()
    if not played.calls:
        return ModeFigures(mode=BOUNDED, why_not="its calls hold no text that could be searched for")
    together = near_figures(played, near, splits=SPLITS, seed=0)[-1]
    accepted = together.accepted_share
    fetches = played.fetches / max(1.0, sum(each.calls for each in exact))
    note = (
        f"near misses accepted in {accepted:.1%} of calls, {together.wrong_set_rate:.2%} of them wrong sets "
        f"(bound {corpus.epsilon:.1%}); {fetches:.1f} fetches a call; hidden seconds are at most so many"
    )
    counts = [
        replace(
            each,
            hidden=each.hidden + accepted * each.waited,
            waited=(1 - accepted) * each.waited,
            served=each.served + accepted * (each.calls - each.served),
            extra=each.extra + fetches * each.calls,
        )
        for each in exact
    ]
    coverage = share([(each.served, each.calls) for each in counts])
    return replace(mode_figures(BOUNDED, counts, prices), coverage=coverage, note=note)
