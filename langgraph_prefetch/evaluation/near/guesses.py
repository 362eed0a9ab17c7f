"""Near misses as guesses of recorded results, for verified serving."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cachetools import LRUCache

from langgraph_prefetch.evaluation.arguments import arguments_of, query_argument, spoken_query
from langgraph_prefetch.evaluation.near.observed import Observed
from langgraph_prefetch.evaluation.near.play import NearPlayer
from langgraph_prefetch.evaluation.near.store import Store
from langgraph_prefetch.evaluation.traces import Episode, RecordedStep, Recording
from langgraph_prefetch.guesses import ResultGuess
from langgraph_prefetch.intent.cues import CueSet
from langgraph_prefetch.near.control import Check, Control, Tier
from langgraph_prefetch.near.settings import NearSettings
from langgraph_prefetch.near.threshold import Checked
from langgraph_prefetch.speculation.nearby import NEAR, P_LIKELY, P_PROVED, P_UNSURE
from langgraph_prefetch.values import Output

_SEPARATOR = "\n\n"
_KEPT_RESULTS = 8_192


class StoredResults:
    """What searches of the store for ``k`` passages return: these in their order, one text."""

    def __init__(self, store: Store, k: int) -> None:
        self._store, self.k = store, k
        self._known: LRUCache[str, str] = LRUCache(_KEPT_RESULTS)

    def of(self, step: RecordedStep, query: str | None) -> str | None:
        """See :class:`~langgraph_prefetch.evaluation.verified.results.Results`."""
        return self.of_query(query) if query else None

    def of_query(self, query: str) -> str | None:
        """See :class:`~langgraph_prefetch.evaluation.verified.results.Results`."""
        if query not in self._known:
            self._known[query] = self.rendered(self._store.source.search(self._store.vectors[query], self.k))
        return self._known[query]

    def rendered(self, ids: Sequence[str]) -> str:
        """The message that passages make."""
        return _SEPARATOR.join(self._store.texts[int(each)] for each in ids)


@dataclass(frozen=True, slots=True)
class _Asked:
    """One guess that is out."""

    observed: Observed
    tier: Tier | None
    check: Check


class NearGuesses:
    """The local answers of one recording's calls. Their control learns from each real search, as in a live graph.

    Args:
        observed: by episode, and step from 1.
        results: of the store.
        settings: of the control.
        seed: of its draws.
    """

    def __init__(
        self, observed: Mapping[tuple[int, int], Observed], results: StoredResults, settings: NearSettings, seed: int
    ) -> None:
        self._observed, self._results, self._control = observed, results, Control(settings)
        self._chance = random.Random(seed)  # noqa: S311 - no secret
        self._asked: _Asked | None = None

    def guess(self, episode: Episode, number: int) -> ResultGuess | None:
        """See :class:`~langgraph_prefetch.evaluation.verified.results.Near`."""
        observed = self._observed.get((id(episode), number))
        self._asked = None
        if observed is None or not observed.local:
            return None
        tier = self._control.serves(observed.reach, proved=observed.proved)
        self._asked = _Asked(observed, tier, self._control.check(self._chance.random(), tier))
        return ResultGuess(
            output=Output(self._results.rendered(observed.local)),
            kind=NEAR,
            probability=P_PROVED if tier == "proved" else P_LIKELY if tier == "likely" else P_UNSURE,
            bounded=tier is not None,
        )

    def ran(self) -> None:
        """See :class:`~langgraph_prefetch.evaluation.verified.results.Near`."""
        asked, self._asked = self._asked, None
        if asked is None or asked.check == "nothing":
            return
        observed, searched = asked.observed, asked.check == "search"
        checked = Checked(observed.reach, searched and observed.wrong)
        self._control.learn(checked, tier=asked.tier, searched=searched, same_as=observed.query)


@dataclass(frozen=True, slots=True, kw_only=True)
class NearWorld:
    """A :class:`~langgraph_prefetch.evaluation.verified.replay.World`.

    Attributes:
        store: what is searched.
        settings: of near misses.
        results: what the searches return.
        tools: the recorded actions that are search calls.
        cues: the language of intent.
        seed: of all that is random.
    """

    store: Store
    settings: NearSettings
    results: StoredResults
    tools: tuple[str, ...]
    cues: CueSet
    seed: int = 0

    def near(self, recording: Recording) -> NearGuesses:
        """Stream the thoughts, fetch around their anchors, and rank for each recorded query."""
        player = NearPlayer(
            source=self.store.source,
            vectors=self.store.vectors,
            settings=self.settings,
            k=self.results.k,
            tools=self.tools,
            cues=self.cues,
        )
        played = player.play([recording]).calls
        self.store.vectors.save()
        observed = dict(zip(_places(recording, self.tools), played, strict=True))
        return NearGuesses(observed, self.results, self.settings, self.seed)


def _places(recording: Recording, tools: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Episode and step of every call that is played, in their order."""
    arguments = {name: query_argument(recording.episodes, name) for name in tools}
    for episode in recording.episodes:
        for number, step in enumerate(episode.steps, start=1):
            if step.action in tools and spoken_query(arguments_of(step), arguments[step.action]):
                yield id(episode), number
