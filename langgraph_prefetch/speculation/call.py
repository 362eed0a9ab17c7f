"""A real call of a named tool: answered from a speculation, or run by its caller."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from langgraph_prefetch.events import Fate, SearchCallAnswered
from langgraph_prefetch.keys import SearchKey
from langgraph_prefetch.ports import SearchTool
from langgraph_prefetch.speculation.answer import AnswerDecision, Found, RunTool, Serve, Wait, decide_answer
from langgraph_prefetch.speculation.cache import Entry, is_empty, snapshot, why_not
from langgraph_prefetch.speculation.flight import Flight, FlightState
from langgraph_prefetch.speculation.freshness import OUTDATED, Freshness
from langgraph_prefetch.speculation.nearby import Nearby, NearOutput
from langgraph_prefetch.speculation.scheduler import Unclaimed, to_cancel
from langgraph_prefetch.speculation.session import Session
from langgraph_prefetch.values import Output, Source


class SearchCall:
    """One real call.

    Use :meth:`answer` or :meth:`aanswer`; where that gives None, run the tool inside ``with call.running():`` and hand
    its output (None if it failed) to :meth:`ran`.

    Args:
        session: the run's parts.
        tool: the tool that is called.
        key: the call's key.
        arguments: as the model wrote them.
        call_id: the model's id of the call.
        step: the model call that asked, counted from 1; 0 if none was heard.
        readable_at: when the query had first been readable in the stream, in clock seconds.
        freshness: tells whether an earlier result still stands; None where only its age does.
        nearby: what else may answer it, or tell what it will return; None where nothing does.

    Attributes:
        answered: the event that told how it was answered; None until then.
    """

    def __init__(
        self,
        session: Session,
        tool: SearchTool,
        key: SearchKey,
        arguments: Mapping[str, Any],
        call_id: str | None,
        step: int,
        readable_at: float,
        freshness: Freshness | None = None,
        nearby: Nearby | None = None,
    ) -> None:
        self._session, self._tool, self._key, self._arguments = session, tool, key, arguments
        self._call_id, self._step, self._readable_at = call_id, step, readable_at
        self._freshness, self._nearby = freshness, nearby
        self._came_at = self._tool_began_at = session.now
        self._entry: Entry | None = None
        self._leading: Entry | None = None
        self._reason = ""
        self.answered: SearchCallAnswered | None = None

    def answer(self, *, may_wait: bool = True) -> Output | None:
        """The tool's output from a speculation; None: run the tool. Blocks while a matching retrieval is running.

        Args:
            may_wait: False on the thread of an event loop, which the retrieval itself may need to go on.
        """
        decision = self._look_up()
        if may_wait and (nearby := self._answering(decision)) is not None:
            with self._letting_go_if_stopped():
                near = nearby.answer()
            if near is not None:
                return self._served_near(near)
        late = isinstance(decision, Wait)
        if isinstance(decision, Wait) and self._entry is not None:
            with self._letting_go_if_stopped():
                since = time.monotonic()
                self._entry.flight.wait(decision.seconds if may_wait else 0)
                if may_wait and (more := self._begun_meanwhile(self._entry, decision)) is not None:
                    self._entry.flight.wait(more, since)
        if self._freshness is not None and may_wait and self._needs_epoch():
            self._freshness.look()
        return self._served(late)

    async def aanswer(self) -> Output | None:
        """:meth:`answer` without blocking the loop."""
        decision = self._look_up()
        if (nearby := self._answering(decision)) is not None:
            with self._letting_go_if_stopped():
                near = await nearby.aanswer()
            if near is not None:
                return self._served_near(near)
        late = isinstance(decision, Wait)
        if isinstance(decision, Wait) and self._entry is not None:
            with self._letting_go_if_stopped():
                since = time.monotonic()
                await self._entry.flight.await_(decision.seconds)
                if (more := self._begun_meanwhile(self._entry, decision)) is not None:
                    await self._entry.flight.await_(more, since)
        if self._freshness is not None and self._needs_epoch():
            with self._letting_go_if_stopped():
                await self._freshness.alook()
        return self._served(late)

    @property
    def key(self) -> SearchKey:
        """What a call must equal to have the same answer."""
        return self._key

    @property
    def tool(self) -> SearchTool:
        """What is called."""
        return self._tool

    @property
    def arguments(self) -> Mapping[str, Any]:
        """As the model wrote them."""
        return self._arguments

    @property
    def nearby(self) -> Nearby | None:
        """What else may tell what it will return."""
        return self._nearby

    def at_hand(self) -> Output | None:
        """A copy of what :meth:`answer` would give at once, as far as that can be told; nothing is claimed."""
        kept = self._session.shared.resumable.get(self.resumable_key) if self.resumable_key is not None else None
        if kept is not None:
            return snapshot(kept)
        entry = self._session.cache.peek(self._key)
        output = entry.flight.output if entry is not None and isinstance(self._decide(entry), Serve) else None
        return snapshot(output) if output is not None else None

    @contextmanager
    def running(self) -> Iterator[None]:
        """While the tool runs: speculation on the same backend makes room, and waiting guesses are given up."""
        self._give_way()
        self._tool_began_at = self._session.now
        try:
            with self._session.shared.executor.real_call(self._session.lane(self._tool), self._tool.policy):
                yield
        except BaseException:
            self._lead_no_more()
            raise

    def ran(self, output: Output | None, *, failed: bool = False) -> None:
        """The tool was run by the caller; ``output`` is None where no other call could be answered with it."""
        now = self._session.now
        took = now - self._tool_began_at
        if self._leading is not None and output is not None and (kept := snapshot(output)) is not None:
            if self._freshness is not None:
                kept = self._freshness.dated(kept)
            self._leading.flight.land(kept)
            if is_empty(kept):
                self._session.cache.remove(self._leading)
        else:
            self._lead_no_more()
        if output is not None:
            self._session.typical.add(self._tool.policy.name, took)
        if self._nearby is not None:
            self._nearby.ran(output, took)
        self._emit(None, retrieval=took, waited=now - self._came_at, lead=0.0, hidden=0.0, failed=failed)

    @property
    def resumable_key(self) -> tuple[Any, ...] | None:
        """Names this call across the runs of one thread; None where calls have no id or the graph no thread."""
        if self._call_id is None or self._session.thread_id is None:
            return None
        return (self._session.thread_id, self._call_id, self._key.tool, self._key.arguments, self._key.caller)

    def _look_up(self) -> AnswerDecision:
        if self._resumed():
            return Serve()
        decision = self._find()
        if isinstance(decision, RunTool):
            self._run_tool(decision.reason)
        return decision

    def _needs_epoch(self) -> bool:
        """Something may be served, or kept for later calls. A resumed call is the same call, whatever was written."""
        return self._reason != "resumed" and (self._entry is not None or self._leading is not None)

    def _outdated(self, output: Output | None) -> bool:
        if self._freshness is None or output is None or self._reason == "resumed":
            return False
        return not self._freshness.holds_for(output)

    def _run_tool(self, reason: str) -> None:
        """What was found does not do; under reuse the result of this call may still answer later ones."""
        self._reason = reason
        self._let_go(reason)
        if self._leading is None and self._session.options.reuse_seconds is not None:
            self._find()
            self._entry = None  # unless another call leads by now

    def _find(self) -> AnswerDecision:
        reuse, cache = self._session.options.reuse_seconds, self._session.cache
        if reuse is None:
            self._entry = cache.claim(self._key)
        else:
            self._entry, leads = cache.begin(self._key, self._session.run_id, lambda: self._own_entry(reuse))
            if leads:
                self._leading, self._entry = self._entry, None
                self._leading.flight.start()
        return self._decide(self._entry)

    def _begun_meanwhile(self, entry: Entry, waited: Wait) -> float | None:
        """How much longer to wait, in seconds, for what had not begun when the call came and now runs elsewhere."""
        if waited.begun or entry.state is not FlightState.RUNNING:
            return None
        decision = self._decide(entry, self._session.now)
        return decision.seconds if isinstance(decision, Wait) else None

    def _decide(self, entry: Entry | None, now: float | None = None) -> AnswerDecision:
        options = self._session.options
        return decide_answer(
            Found(state=entry.state, as_of=entry.as_of, grace_until=entry.flight.grace_until) if entry else None,
            now=self._came_at if now is None else now,
            max_age=max(options.reuse_seconds or 0.0, options.max_age_seconds),
            max_wait=options.max_wait_seconds,
            typical=self._session.typical.get(self._tool.policy.name),
        )

    def _own_entry(self, reuse: float) -> Entry:
        return Entry(self._key, None, Flight(self._session.shared.clock), self._came_at + reuse)

    def _resumed(self) -> bool:
        key = self.resumable_key
        kept = self._session.shared.resumable.get(key) if key is not None else None
        if kept is None or (copied := snapshot(kept)) is None:
            return False
        flight = Flight(self._session.shared.clock)
        flight.start()
        flight.land(copied)
        self._entry = Entry(self._key, None, flight, self._came_at)
        self._reason = "resumed"
        return True

    def _answering(self, decision: AnswerDecision) -> Nearby | None:
        """What is asked before a search that is still running is waited for."""
        return None if isinstance(decision, Serve) or self._session.options.serve != "bounded" else self._nearby

    def _served_near(self, near: NearOutput) -> Output:
        self._lead_no_more()
        if self._session.options.reuse_seconds is None:  # else others may be waiting for it too
            self._let_go("a near miss answered first")
        self._entry, self._reason = None, ""
        retrieval, waited = near.retrieval_seconds, self._session.now - self._came_at
        self._emit(Source.NEAR, retrieval=retrieval, waited=waited, lead=0.0, hidden=max(0.0, retrieval - waited))
        return near.output

    def _served(self, late: bool) -> Output | None:
        entry = self._entry
        if entry is None:
            return None
        output = entry.flight.output
        if self._outdated(output):
            self._run_tool(OUTDATED)
            return None
        if output is not None and self._session.options.reuse_seconds is not None:
            output = snapshot(output)
        if output is None:
            self._run_tool(self._reason or why_not(entry))
            return None
        now = self._session.now
        first = entry.serve() == 0
        entry.settle(Fate.SERVED, "late" if late else "ready")
        self._keep(entry, output)
        speculation = entry.speculation if first else None
        retrieval = entry.flight.seconds or 0.0
        if late and self._nearby is not None:  # it was asked first, and can learn from what it could not tell
            self._nearby.ran(output, retrieval)
        waited = now - self._came_at
        lead = self._came_at - speculation.dispatched_at if speculation else 0.0
        self._emit(
            speculation.source if speculation else Source.REUSE,
            retrieval=retrieval,
            waited=waited,
            lead=lead,
            hidden=max(0.0, retrieval - waited),
            late=late,
            speculation_id=speculation.id if speculation else None,
        )
        if first and entry.decided is not None and self._session.gate is not None and self.answered is not None:
            self._session.gate.learn(entry.decided, right=True, seconds=self.answered.hidden_seconds)
        return output

    def _keep(self, entry: Entry, output: Output) -> None:
        """Under reuse the answer stays for so long after it was read, unless it is empty."""
        reuse = self._session.options.reuse_seconds
        if reuse is None or self._reason == "resumed" or entry.speculation is None:
            return
        if self._session.cache.remove(entry) and not is_empty(output):
            entry.expires_at = entry.as_of + reuse
            self._session.cache.put(entry)

    def _let_go(self, reason: str) -> None:
        """The entry found does not answer: nobody waits for it any more."""
        entry, self._entry = self._entry, None
        if entry is None:
            return
        self._session.cache.remove(entry)
        entry.abandon(reason)

    @contextmanager
    def _letting_go_if_stopped(self) -> Iterator[None]:
        """A caller that is cancelled or interrupted while it waits gives up what only it could have claimed."""
        try:
            yield
        except BaseException:
            self._lead_no_more()
            if self._session.options.reuse_seconds is None:  # else others may be waiting for it too
                self._let_go("the call was cancelled")
            raise

    def _lead_no_more(self) -> None:
        if self._leading is not None:
            self._session.cache.remove(self._leading)
            self._leading.flight.cancel()
            self._leading = None

    def _give_way(self) -> None:
        unclaimed = {
            entry.speculation.id: entry
            for entry in self._session.cache.entries()
            if entry.speculation is not None and entry.runs == {self._session.run_id}
        }
        rows = (
            Unclaimed(id=name, tool=each.tool, source=each.source, state=unclaimed[name].state)
            for name, each in ((name, entry.speculation) for name, entry in unclaimed.items())
            if each is not None
        )
        for name in to_cancel(self._tool.policy.name, rows):
            self._session.cache.remove(unclaimed[name])
            unclaimed[name].abandon("a real call went first")

    def _emit(
        self,
        source: Source | None,
        *,
        retrieval: float,
        waited: float,
        lead: float,
        hidden: float,
        late: bool = False,
        failed: bool = False,
        speculation_id: str | None = None,
    ) -> None:
        near = source is Source.NEAR
        hideable = retrieval if near else min(retrieval, max(0.0, self._came_at - self._readable_at))
        forgone, forgone_seconds = self._forgone(hideable, failed=failed)
        self.answered = SearchCallAnswered(
            run_id=self._session.run_id,
            step=self._step,
            at=self._session.now,
            call_id=self._call_id,
            tool=self._tool.policy.name,
            source=source,
            speculation_id=speculation_id,
            late=late,
            reason=self._reason,
            waited_seconds=waited,
            retrieval_seconds=retrieval,
            lead_seconds=lead,
            hideable_seconds=hideable,
            hidden_seconds=min(hidden, hideable),
            failed=failed,
            query=str(dict(self._arguments)) if self._session.options.log_queries else None,
            forgone=forgone,
            forgone_seconds=forgone_seconds,
        )
        self._session.events(self.answered)

    def _forgone(self, hideable: float, *, failed: bool) -> tuple[str | None, float | None]:
        """Why what would have answered this call was not started, and the seconds it would have hidden."""
        watch, gate = self._session.watch, self._session.gate
        if watch is None or gate is None or self._reason == "resumed":
            return None, None
        forgone: list[tuple[str, float]] = []
        for watched in watch.claim(self._key, self._came_at):
            # The retrieval would have begun at that moment, so that it hides at most the time since then.
            hidden = 0.0 if failed else min(hideable, self._came_at - watched.at)
            forgone.append((watched.reason, hidden))
            if watched.decided is not None:
                gate.learn(watched.decided, right=not failed, seconds=hidden)
        return forgone[0] if forgone else (None, None)
