"""One model call's fetches for one view: anchors as the text goes on, each embedded and fetched in the background."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextvars import Context
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from langgraph_prefetch.errors import EmbedderMismatchError, SpeculationRejectedError
from langgraph_prefetch.events import DRY_RUN, NearFetched, NearIgnored
from langgraph_prefetch.graph.near.checking import check
from langgraph_prefetch.graph.near.outbound import anchor_held_back
from langgraph_prefetch.graph.near.sources import Loop, as_vector, embed, has_own_async
from langgraph_prefetch.graph.near.viewed import Viewed
from langgraph_prefetch.near.anchors import Anchor
from langgraph_prefetch.near.geometry import Vector
from langgraph_prefetch.passages import Neighbourhood
from langgraph_prefetch.ports import Work
from langgraph_prefetch.prefetcher.step import Told
from langgraph_prefetch.speculation.flight import Flight, FlightState
from langgraph_prefetch.values import Output

if TYPE_CHECKING:
    from langgraph_prefetch.graph.near.runs import RunNear

AT_ONCE_EARLY = 2
"""While the thought goes on: what is about its end is worth more than what is about its middle."""
EMBEDDED_PER_FETCH = 6
"""An anchor that turns out not to have moved costs its embedding; so many for each fetch that a step may make."""
UNMOVED = "it has not moved"


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a fetch brought; nothing if the anchor had not moved."""

    passages: Neighbourhood | None


class Fetching:
    """See above. Safe for threads.

    Args:
        near: the run's.
        viewed: for which view.
        number: of the model call.
        told: what it was given to read.
        context: in which embedders and sources run.
        loop: the caller's event loop.
    """

    def __init__(self, near: RunNear, viewed: Viewed, number: int, told: Told, context: Context, loop: Loop) -> None:
        self._near, self.viewed, self._number, self._told = near, viewed, number, told
        self._context, self._loop = context, loop
        self._lock = threading.Lock()
        settings = viewed.view.settings
        self._reader = viewed.run.begin_step(told.question)
        self._left = EMBEDDED_PER_FETCH * settings.anchors
        self._offers: Iterator[Anchor] = iter(())
        self._unread = ""
        self._flying = 0
        self._is_final = False

    def begin(self) -> None:
        """Before the first word: the question."""
        with self._lock:
            self._offers = self._reader.begin()
        self._pump()

    def read(self, text: str) -> None:
        """The thought goes on."""
        with self._lock:
            if self._is_final:
                return
            self._unread += text
        self._pump()

    def guessed(self, query: str) -> None:
        """The text makes a query likely."""
        with self._lock:
            self._reader.guessed(query)

    def finish(self) -> None:
        """The thought is over."""
        with self._lock:
            if self._is_final:
                return
            self._is_final = True
            text, self._unread = self._unread, ""
            self._offers = chain(self._reader.read(text), self._reader.finish())
        self._pump()

    def embed_soon(self, query: str) -> None:
        """The real call's query is known before the call comes."""
        self.viewed.vector(query, self._context.copy(), self._loop)

    def _pump(self) -> None:
        """Start what there is room for."""
        while (anchor := self._next()) is not None:
            if reason := self._start(anchor):
                self._give_back()
                self._ignored(anchor, reason)

    def _next(self) -> Anchor | None:
        """The next anchor, which has a fetch of its own from now on."""
        with self._lock:
            most = self.viewed.view.settings.anchors if self._is_final else AT_ONCE_EARLY
            if self._flying >= most or self._left <= 0 or self._near.is_over:
                return None
            if self._unread:  # only now: a border that is read while all places are taken would be lost
                text, self._unread = self._unread, ""
                self._offers = chain(self._reader.read(text), ()) if self._reader.left else iter(())
            anchor = next(self._offers, None)
            if anchor is not None:
                self._reader.fetched()
                self._flying += 1
                self._left -= 1
            return anchor

    def _give_back(self) -> None:
        with self._lock:
            self._reader.spared()
            self._flying -= 1

    def _start(self, anchor: Anchor) -> str | None:
        """Embed and fetch in the background; the reason why not, or None."""
        near, view = self._near, self.viewed.view
        if reason := near.closed(self.viewed):
            return reason
        if near.session.options.dry_run:
            return DRY_RUN
        if reason := anchor_held_back(near.session, view, anchor, self._told):
            return reason
        if reason := near.admit():
            return f"budget: {reason}"
        flight, began, era = Flight(near.session.shared.clock), near.session.now, self.viewed.era
        work = self._work(anchor, era, began)
        try:
            near.session.shared.executor.submit(flight, work, near.session.lane(view.tool), view.tool.policy)
        except SpeculationRejectedError as error:
            near.withdraw()
            return f"rejected: {error.reason}"
        near.flies(flight)
        self.viewed.flies(flight)
        flight.on_end(lambda ended: self._landed(anchor, ended, began))
        return None

    def _work(self, anchor: Anchor, era: int, began: float) -> Work:
        viewed, embeddings, loop = self.viewed, self.viewed.view.embeddings, self._loop
        afetch, n = viewed.fetcher.afetch, viewed.view.settings.n

        def took(found: Neighbourhood) -> Output:
            viewed.add(found, era, began)
            return Output(Fetched(found))

        def run() -> Output:
            vector = embed(embeddings, anchor.text, loop)
            if not viewed.run.wants(vector):
                return Output(Fetched(None))
            found = viewed.fetcher.fetch(anchor.text, vector, n)
            self._near.check_once(viewed, lambda: check(embeddings, found, loop))
            return took(found)

        async def arun() -> Output:
            vector: Vector = as_vector(await embeddings.aembed_query(anchor.text))
            if not viewed.run.wants(vector):
                return Output(Fetched(None))
            assert afetch is not None
            found = await afetch(anchor.text, vector, n)
            # On a thread: an embedder's plain methods may block, and its coroutines are tried with every anchor.
            self._near.check_soon(viewed, lambda: check(embeddings, found, loop), self._context.copy())
            return took(found)

        context = self._context.copy()
        if loop is not None and afetch is not None and has_own_async(embeddings):
            return Work(context=context, coroutine=arun, loop=loop)
        return Work(context=context, blocking=run)

    def _landed(self, anchor: Anchor, flight: Flight, began: float) -> None:
        """A fetch ended, well or not. Never raises."""
        near, now = self._near, self._near.session.now
        fetched: Any = flight.output.content if flight.output is not None else None
        passages = fetched.passages if isinstance(fetched, Fetched) else None
        if passages is None:
            self._give_back()
        else:
            with self._lock:
                self._flying -= 1
            near.session.events(
                NearFetched(
                    run_id=near.session.run_id,
                    step=self._number,
                    at=now,
                    tool=self.viewed.view.name,
                    kind=anchor.kind,
                    passages=len(passages.ids),
                    bytes=int(passages.vectors.nbytes),
                    seconds=now - began,
                    exact=passages.exact,
                )
            )
        if flight.state is FlightState.READY and passages is None:
            near.withdraw()
            self._ignored(anchor, UNMOVED)
        elif flight.error is not None:
            self._failed(anchor, flight.error)
        # Not here: the user's hook is asked for each anchor, and may think; this may be the background loop.
        near.session.shared.reading.soon(self._go_on)

    def _go_on(self) -> None:
        try:
            self._pump()
        except Exception as error:  # noqa: BLE001 - a failure of ours is a miss
            self._near.session.trouble("near", error)

    def _failed(self, anchor: Anchor, error: BaseException) -> None:
        if isinstance(error, EmbedderMismatchError):
            self._near.close_tool(self.viewed.view.name, str(error))
        else:
            self._near.session.trouble("near fetch", error)
        with self._lock:  # a source that is down is not asked again and again
            self._left = min(self._left, self.viewed.view.settings.anchors)
        self._ignored(anchor, "failed")

    def _ignored(self, anchor: Anchor, reason: str) -> None:
        session = self._near.session
        session.events(
            NearIgnored(
                run_id=session.run_id,
                step=self._number,
                at=session.now,
                tool=self.viewed.view.name,
                kind=anchor.kind,
                reason=reason,
            )
        )
