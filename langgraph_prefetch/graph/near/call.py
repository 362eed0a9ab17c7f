"""One real call among the passages that were fetched: answered, guessed, and compared with what the tool returns."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from concurrent.futures import Future
from contextvars import Context
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from langgraph_prefetch.config import ToolPolicy
from langgraph_prefetch.errors import SpeculationRejectedError
from langgraph_prefetch.events import NearAnswered, NearChecked
from langgraph_prefetch.graph.caller import GraphCaller, speculative_context
from langgraph_prefetch.graph.near.render import same
from langgraph_prefetch.graph.near.sources import Loop, documents_of
from langgraph_prefetch.graph.near.viewed import Viewed, in_thread
from langgraph_prefetch.graph.said import Listening
from langgraph_prefetch.guesses import ResultGuess, Tell
from langgraph_prefetch.live_variants import pinned
from langgraph_prefetch.near.geometry import Vector
from langgraph_prefetch.near.run import LocalAnswer, NearMiss
from langgraph_prefetch.ports import SearchTool, Work
from langgraph_prefetch.speculation.flight import Flight
from langgraph_prefetch.speculation.nearby import NEAR, P_LIKELY, P_PROVED, P_UNSURE, NearOutput
from langgraph_prefetch.speculative import speculating
from langgraph_prefetch.values import Output

if TYPE_CHECKING:
    from langgraph_prefetch.graph.near.runs import RunNear

LEAST_PATIENCE_SECONDS, PATIENCE_SECONDS = 0.05, 1.0
"""How long the ranking may take: half of what the tool's own search usually takes; so long while that is unknown."""
UNSURE, UNTRUSTED, GUESS_ONLY = "unsure", "not yet trusted", "a guess only"
_WRONG = ("\0",)
"""The ids of no passage."""
MOST_REACH = 100.0
"""As it is told: that of a list that holds every passage is infinite."""
_COMPARING = ToolPolicy(name="near_check")


@dataclass(frozen=True, slots=True)
class Ranked:
    """A local answer and the query's vector; ``reason``: why it is not served, empty if it may be."""

    answer: LocalAnswer
    vector: Vector
    reason: str


class NearCall:
    """A :class:`~langgraph_prefetch.speculation.nearby.Nearby`. Used by one call."""

    def __init__(
        self,
        near: RunNear,
        viewed: Viewed,
        tool: SearchTool,
        query: str,
        arguments: Mapping[str, Any],
        caller: GraphCaller,
        loop: Loop,
        step: int,
    ) -> None:
        self._near, self._viewed, self._tool, self._query = near, viewed, tool, query
        self._arguments, self._caller, self._loop, self._step = arguments, caller, loop, step
        self._session = near.session
        self._came_at = self._session.now
        self._draw = random.random()  # noqa: S311 - decides which calls are checked, nothing secret
        self._ranked: Ranked | None = None
        self._output: Output | None = None
        self._later: Future[None] | None = None
        self._is_beside = False

    # --- answering

    def answer(self) -> NearOutput | None:
        """What the call is answered with; None: run the tool."""
        if self._beside():
            return None
        try:
            return self._served(self._found())
        except Exception as error:  # noqa: BLE001 - a failure of ours, the embedder's or the source's is a miss
            self._failed(error)
            return None

    async def aanswer(self) -> NearOutput | None:
        """:meth:`answer` without blocking the loop."""
        if self._beside():
            return None
        try:
            return self._served(await self._afound())
        except Exception as error:  # noqa: BLE001 - as above
            self._failed(error)
            return None

    def _beside(self) -> bool:
        """Where nothing could be served, rank beside the tool's own run, which need not wait; True if so."""
        if self._near.misses.may_serve(self._viewed):
            return False
        self._is_beside = True

        def run() -> None:
            try:
                found = self._found()
                self._made(found)
                self._tell(found)
            except Exception as error:  # noqa: BLE001 - as above
                self._failed(error)

        self._later = in_thread(run, self._context())
        return True

    def guess(self, tell: Tell) -> None:
        """Tell what the call will probably return."""
        self._is_beside = True
        self._draw = 0.0  # the tool runs in any case, so that every call teaches

        def run() -> None:
            guess = None
            try:
                guess = self._guessed(self._found())
            except Exception as error:  # noqa: BLE001 - as above
                self._failed(error)
            tell(guess)

        self._later = in_thread(run, self._context())

    def _found(self) -> Ranked | NearMiss:
        asked = self._asked()
        vector, epoch = asked.result(timeout=self._left())
        found = self._rank(vector, epoch)
        if not self._is_open(found):
            return found
        for flight in self._viewed.in_flight():
            flight.wait(self._left())
        return self._rank(vector, epoch)

    async def _afound(self) -> Ranked | NearMiss:
        asked = self._asked()
        async with asyncio.timeout(self._left()):
            vector, epoch = await asyncio.wrap_future(asked)
        found = self._rank(vector, epoch)
        if not self._is_open(found):
            return found
        for flight in self._viewed.in_flight():
            await flight.await_(self._left())
        return self._rank(vector, epoch)

    def _asked(self) -> Future[tuple[Vector, int]]:
        """The query's vector, and the epoch after the call came."""
        vector = self._viewed.vector(self._query, self._context(), self._loop)

        def ask() -> tuple[Vector, int]:
            # What is served must be as new as can be; what is ranked beside the tool's run, no newer than that.
            epoch = self._viewed.fetcher.epoch() if self._is_beside else None
            made = vector.result()
            return made, self._viewed.fetcher.epoch() if epoch is None else epoch

        return in_thread(ask, self._context())

    def _rank(self, vector: Vector, epoch: int) -> Ranked | NearMiss:
        found = self._viewed.answer(vector, epoch=epoch, draw=self._draw, now=self._came_at)
        if isinstance(found, NearMiss):
            return found
        misses = self._near.misses
        if found.tier is None:
            return Ranked(found, vector, UNSURE)
        if not misses.trusts(self._viewed):
            return Ranked(replace(found, tier=None, check="search"), vector, UNTRUSTED)
        verified = self._session.options.serve != "bounded"
        return Ranked(found, vector, GUESS_ONLY if verified else "")

    def _is_open(self, found: Ranked | NearMiss) -> bool:
        """Whether passages that are on their way could change it."""
        return isinstance(found, NearMiss) or found.reason == UNSURE

    def _served(self, found: Ranked | NearMiss) -> NearOutput | None:
        output = self._made(found)
        if not isinstance(found, Ranked) or output is None or found.reason or self._near.is_over:
            self._tell(found)
            return None
        if found.answer.check != "nothing":
            self._audit(found, output)
        self._tell(found)
        # What was ranked shall not change under the hands of whoever is handed it.
        return NearOutput(
            output=self._viewed.view.render(documents_of(found.answer)),
            retrieval_seconds=self._near.misses.seconds.get(self._viewed.view.name, 0.0),
        )

    def _guessed(self, found: Ranked | NearMiss) -> ResultGuess | None:
        output = self._made(found)
        self._tell(found)
        if output is None or not isinstance(found, Ranked):
            return None
        tier = found.answer.tier
        probability = P_PROVED if tier == "proved" else P_LIKELY if tier == "likely" else P_UNSURE
        return ResultGuess(output=output, kind=NEAR, probability=probability, bounded=tier is not None)

    def _made(self, found: Ranked | NearMiss) -> Output | None:
        """The answer as the tool would give it; kept, to be compared with what the tool itself returns."""
        if not isinstance(found, Ranked):
            return None
        output = self._viewed.view.render(documents_of(found.answer))
        self._output, self._ranked = output, found
        return output

    # --- learning

    def ran(self, output: Output | None, seconds: float) -> None:
        """The tool itself ran."""
        self._near.misses.took(self._viewed.view.name, seconds)
        if output is not None and self._later is not None:
            self._later.add_done_callback(lambda _: self._learn(output))
        elif output is not None:
            self._learn(output)

    def _learn(self, output: Output) -> None:
        ranked = self._ranked
        if ranked is not None and ranked.answer.check != "nothing":
            self._compare_soon(ranked, output)

    def _audit(self, ranked: Ranked, served: Output) -> None:
        """Search again, by the tool itself, what was served; what is known to be right needs no search."""
        if ranked.answer.check == "known":
            self._viewed.run.learn(ranked.answer, None, epoch=None, same_as=self._query)
            return
        caller = self._caller if self._caller.loop is not None else replace(self._caller, loop=self._loop)
        work = self._tool.prepare(self._arguments, caller)
        work.context.run(speculating.set, True)
        work.context.run(pinned.set, self._session.given)
        flight = Flight(self._session.shared.clock)
        flight.on_end(lambda ended: self._compare_soon(ranked, ended.output) if ended.output is not None else None)
        self._submit(flight, work, self._tool.policy)

    def _compare_soon(self, ranked: Ranked, output: Output) -> None:
        flight = Flight(self._session.shared.clock)
        flight.on_end(lambda ended: self._session.trouble("near check", ended.error) if ended.error else None)
        work = Work(context=self._context(), blocking=lambda: self._compare(ranked, output))
        self._submit(flight, work, _COMPARING)

    def _submit(self, flight: Flight, work: Work, policy: ToolPolicy) -> None:
        try:
            self._session.shared.executor.submit(flight, work, policy.name, policy)
        except SpeculationRejectedError:
            flight.cancel()  # too much to do: nothing is learned of this call

    def _compare(self, ranked: Ranked, returned: Output) -> Output:
        """What the tool returned is right, whatever was ranked. On a background thread."""
        answer, viewed, misses = ranked.answer, self._viewed, self._near.misses
        epoch = viewed.fetcher.epoch()
        if epoch != answer.epoch or self._output is None:
            return Output(None)
        equal = as_stated = same(self._output, returned)
        if not equal:
            found = viewed.fetcher.fetch(self._query, ranked.vector, viewed.view.k)
            if found.epoch != epoch:
                return Output(None)
            as_stated = same(viewed.view.render(documents_of(found)), returned)
        if answer.ids or not equal:  # that both found nothing says nothing
            misses.compared(viewed, equal=as_stated)
        right = answer.ids if equal else _WRONG
        wrong = viewed.run.learn(answer, right, epoch=epoch, same_as=self._query)
        figures = misses.figures(viewed)
        if wrong is not None and figures is not None:
            self._session.events(
                NearChecked(
                    run_id=self._session.run_id,
                    step=self._step,
                    at=self._session.now,
                    tool=viewed.view.name,
                    served=answer.tier is not None and not ranked.reason,
                    wrong=wrong,
                    audited=figures.audited,
                    audited_wrong=figures.wrong,
                    low=figures.interval.low,
                    high=figures.interval.high,
                    state=figures.state,
                    known=figures.known,
                    needed=figures.needed,
                )
            )
        return Output(None)

    # --- the rest

    def _context(self) -> Context:
        context = speculative_context(self._caller.speculative_config(Listening()))
        context.run(speculating.set, True)
        return context

    def _left(self) -> float:
        """Seconds for which the call still has patience."""
        options, typical = self._session.options, self._session.typical.get(self._viewed.view.name)
        patience = PATIENCE_SECONDS if typical is None else max(LEAST_PATIENCE_SECONDS, 0.5 * typical)
        return max(0.0, self._came_at + min(options.max_wait_seconds, patience) - self._session.now)

    def _failed(self, error: Exception) -> None:
        if not isinstance(error, TimeoutError):
            self._session.trouble("near", error)
        self._tell(NearMiss("took too long" if isinstance(error, TimeoutError) else "failed"))

    def _tell(self, found: Ranked | NearMiss) -> None:
        now = self._session.now
        answer = found.answer if isinstance(found, Ranked) else None
        self._session.events(
            NearAnswered(
                run_id=self._session.run_id,
                step=self._step,
                at=now,
                tool=self._viewed.view.name,
                served=answer is not None and not found.reason,
                tier=(answer.tier or "") if answer is not None else "",
                reason=found.reason,
                passages=answer.among if answer is not None else 0,
                seconds=now - self._came_at,
                reach=max(-MOST_REACH, min(MOST_REACH, answer.reach)) if answer is not None else None,
            )
        )
