"""Plays recorded thoughts to the anchor reader and to the guesser, fetches, and ranks locally for each recorded query.

Causal: an anchor is a text that had been streamed before the call, the action itself not included.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from langgraph_prefetch.evaluation.arguments import arguments_of, query_argument, spoken_query
from langgraph_prefetch.evaluation.near.observed import Observed, Played
from langgraph_prefetch.evaluation.near.vectors import Vectors
from langgraph_prefetch.evaluation.tokens import cut
from langgraph_prefetch.evaluation.traces import Episode, RecordedStep, Recording
from langgraph_prefetch.intent.cues import CueSet, default_cues
from langgraph_prefetch.intent.reader import IntentContext, IntentReader, IntentSettings
from langgraph_prefetch.near.anchors import Anchor, AnchorReader
from langgraph_prefetch.near.controls import Controls
from langgraph_prefetch.near.geometry import Vector
from langgraph_prefetch.near.run import LocalAnswer, NearRun
from langgraph_prefetch.near.settings import NearSettings
from langgraph_prefetch.near.source import MemorySource
from langgraph_prefetch.passages import Neighbourhood
from langgraph_prefetch.values import Guess, TextDelta

_KEPT_LISTS = 64


@dataclass(kw_only=True)
class NearPlayer:
    """Plays recordings against one store.

    Attributes:
        source: the store.
        vectors: of texts.
        settings: how much is fetched.
        k: how many passages a call asks for.
        tools: the recorded actions that are search calls.
        cues: the language of intent.
    """

    source: MemorySource
    vectors: Vectors
    settings: NearSettings
    k: int
    tools: tuple[str, ...]
    cues: CueSet = field(default_factory=default_cues)
    _counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("steps", "fetches", "passages", "texts"), 0))
    _lists: OrderedDict[str, Neighbourhood] = field(default_factory=OrderedDict)

    def play(self, recordings: Iterable[Recording], on_episode: Callable[[], None] = lambda: None) -> Played:
        """Play all of them, each episode as a run of its own."""
        calls: list[Observed] = []
        for recording in recordings:
            arguments = {name: query_argument(recording.episodes, name) for name in self.tools}
            for episode in recording.episodes:
                calls.extend(self._episode(recording.file, episode, arguments))
                on_episode()
        counts = self._counts
        return Played(
            calls=tuple(calls),
            steps=counts["steps"],
            fetches=counts["fetches"],
            passages=counts["passages"],
            embedded=counts["texts"],
        )

    def _episode(self, file: str, episode: Episode, arguments: dict[str, str | None]) -> Iterator[Observed]:
        run = NearRun(self.settings, Controls(self.settings), tool="search", scope=None)
        earlier: list[str] = []
        for step in episode.steps:
            self._counts["steps"] += 1
            guesses = self._think(run, episode.question, step, earlier)
            query = spoken_query(arguments_of(step), arguments[step.action]) if step.action in self.tools else None
            if query:
                yield self._call(run, file, episode, step, query, guesses)
                earlier.append(query)

    def _think(self, run: NearRun, question: str, step: RecordedStep, earlier: Sequence[str]) -> list[Guess]:
        """Stream the thought of one step, and fetch as its anchors come up."""
        anchors = run.begin_step(question)
        context = IntentContext(question=question, earlier_queries=tuple(earlier), tools=self.tools)
        reader = IntentReader(IntentSettings(cues=self.cues, sealed=False, textual=False), context)
        guesses: list[Guess] = []
        self._fetch(run, anchors, anchors.begin())
        for piece in cut(step.thought):
            self._note(guesses, anchors, reader.feed(TextDelta(piece)))
            self._fetch(run, anchors, anchors.read(piece))
        self._note(guesses, anchors, reader.finish())
        self._fetch(run, anchors, anchors.finish())
        return guesses

    def _note(self, guesses: list[Guess], anchors: AnchorReader, signals: Iterable[object]) -> None:
        for signal in signals:
            if isinstance(signal, Guess):
                guesses.append(signal)
                anchors.guessed(signal.query)

    def _fetch(self, run: NearRun, reader: AnchorReader, anchors: Iterator[Anchor]) -> None:
        for anchor in anchors:
            vector = self.vectors[anchor.text]
            self._counts["texts"] += 1
            if run.wants(vector):
                reader.fetched()
                run.add(self._list(anchor.text, vector))

    def _list(self, text: str, vector: Vector) -> Neighbourhood:
        fetched = self._lists.pop(text, None) or self.source.neighbourhood(vector, self.settings.n)
        self._lists[text] = fetched  # questions are asked again
        if len(self._lists) > _KEPT_LISTS:
            self._lists.popitem(last=False)
        self._counts["fetches"] += 1
        self._counts["passages"] += len(fetched.ids)
        return fetched

    def _call(
        self, run: NearRun, file: str, episode: Episode, step: RecordedStep, query: str, guesses: list[Guess]
    ) -> Observed:
        vector = self.vectors[query]
        answered = run.answer(vector, k=self.k, epoch=self.source.epoch(), draw=1.0)
        local = answered if isinstance(answered, LocalAnswer) else None
        return Observed(
            file=file,
            question=episode.question,
            query=query,
            thought=step.thought,
            guesses=tuple(each.query for each in sorted(guesses, key=lambda guess: -guess.probability)),
            right=self.source.search(vector, self.k),
            local=local.ids if local is not None else (),
            reach=local.reach if local is not None else float("-inf"),
            proved=local is not None and local.tier == "proved",
        )
