"""One run's near misses for one view of a store: what to fetch, what to answer, what to learn. No I/O.

The shell that drives it (a live wrapper, or a replay) embeds, fetches and searches::

    run = NearRun(settings, controls, tool="search", scope=scope)
    reader = run.begin_step(question)
    for anchor in reader.begin():                  # and for reader.read(text), reader.finish()
        vector = embed(anchor.text)
        if run.wants(vector):                      # it has moved
            reader.fetched()
            run.add(source.neighbourhood(vector, settings.n))
    ...
    answered = run.answer(embed(query), k=5, epoch=source.epoch(), draw=random())
    match answered:
        case LocalAnswer(tier=None): run the tool, then run.learn(answered, what it returned)
        case LocalAnswer(): serve it; if answered.check == "search", search in the background, then run.learn(…)
        case NearMiss(): run the tool

A *view* is all that decides what a search for a vector returns, but the vector and ``k``: the tool, its other
arguments, the caller, the filter. A run keeps one ``NearRun`` for each; a call of another view has nothing to do with
this one's passages.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.near._numpy import np
from langgraph_prefetch.near.anchors import AnchorReader
from langgraph_prefetch.near.control import Check, Tier
from langgraph_prefetch.near.controls import Controls
from langgraph_prefetch.near.geometry import Vector
from langgraph_prefetch.near.ranking import rank
from langgraph_prefetch.near.settings import NearSettings
from langgraph_prefetch.near.surroundings import Surroundings
from langgraph_prefetch.near.threshold import Checked
from langgraph_prefetch.passages import Neighbourhood


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalAnswer:
    """The passages that a local re-rank found, and what may be done with them.

    Attributes:
        ids, texts, metadatas: of the passages, nearest first.
        similarities: to the query, larger being nearer.
        reach: the score; see :mod:`~langgraph_prefetch.near.reach`.
        tier: ``"proved"`` or ``"likely"``: serve it; None: run the tool.
        check: whether, and how, :meth:`NearRun.learn` is to be told the right answer.
        epoch: of the passages.
        among: how many passages were ranked.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    metadatas: tuple[Mapping[str, Any], ...]
    similarities: tuple[float, ...]
    reach: float
    tier: Tier | None
    check: Check
    epoch: int
    among: int = 0


@dataclass(frozen=True, slots=True)
class NearMiss:
    """Nothing here answers the call, for this reason."""

    reason: str


class NearRun:
    """See above. Safe for threads: lists arrive from the background while the run goes on."""

    def __init__(self, settings: NearSettings, controls: Controls, *, tool: str, scope: Hashable) -> None:
        self._settings, self._controls, self._tool, self._scope = settings, controls, tool, scope
        self._lock = ForkSafeLock()
        self._surroundings = Surroundings()
        self._asked: str | None = None

    def begin_step(self, question: str) -> AnchorReader:
        """A model call begins. Its reader is fed by one thread at a time."""
        new, self._asked = question != self._asked, question
        return AnchorReader(question if new else "", self._settings.anchors)

    def wants(self, anchor: Vector) -> bool:
        """Whether the passages around ``anchor`` are worth a fetch."""
        with self._lock:
            return self._surroundings.moves(anchor, self._settings.min_degrees)

    def add(self, fetched: Neighbourhood) -> None:
        """Passages arrived.

        Raises:
            ValueError: they cannot be used; to the run that is as if none had come.
        """
        with self._lock:
            self._surroundings.add(fetched)
            self._surroundings.union()  # here in the background, not when the call waits

    def answer(self, query: Vector, *, k: int, epoch: int, draw: float) -> LocalAnswer | NearMiss:
        """The local answer to a real call.

        Args:
            query: the vector of the real query, by the embedder that made the store's.
            k: how many passages the call asks for.
            epoch: the store's, read after the call came.
            draw: uniform in [0, 1), drawn anew for each call.
        """
        with self._lock:
            union = self._surroundings.union()
        if union is None:
            return NearMiss("nothing fetched")
        if union.epoch != epoch:
            return NearMiss("the index has changed")
        if k < 1 or query.shape != union.vectors.shape[1:] or not np.isfinite(query).all():
            return NearMiss("not comparable")
        ranked = rank(union, query, k, self._settings.norm_bound)
        if ranked is None:
            return NearMiss("too few passages")
        with self._controls.of(self._tool, self._scope) as control:
            tier = control.serves(ranked.reach, proved=ranked.proved)
            check = control.check(draw, tier)
            if tier is not None:
                control.count_served(tier)
        return LocalAnswer(
            ids=tuple(union.ids[row] for row in ranked.rows),
            texts=tuple(union.texts[row] for row in ranked.rows),
            metadatas=tuple(union.metadatas[row] for row in ranked.rows),
            similarities=ranked.similarities,
            reach=ranked.reach,
            tier=tier,
            check=check,
            epoch=union.epoch,
            among=len(union.ids),
        )

    def learn(
        self, answered: LocalAnswer, right: Sequence[str] | None, *, epoch: int | None, same_as: Hashable | None = None
    ) -> bool | None:
        """The real search of a call that was to be checked returned.

        Args:
            answered: what :meth:`answer` gave.
            right: the ids that the real search returned; None where ``answered.check`` is ``"known"``.
            epoch: the store's after the search; None for ``"known"``. If it has moved, nothing can be learned.
            same_as: equal for calls of one query.

        Returns:
            Whether the local answer was a wrong set; None where nothing was learned.
        """
        if answered.check == "nothing" or (answered.check == "search" and (right is None or epoch != answered.epoch)):
            return None
        searched = answered.check == "search"
        wrong = searched and right is not None and set(right) != set(answered.ids)
        with self._controls.of(self._tool, self._scope) as control:
            control.learn(Checked(answered.reach, wrong), tier=answered.tier, searched=searched, same_as=same_as)
        return wrong
