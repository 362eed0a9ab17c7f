"""From a signal to a background retrieval: decide, start, and account for its end."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from langgraph_prefetch.errors import SpeculationDeclinedError, SpeculationRejectedError
from langgraph_prefetch.events import (
    DRY_RUN,
    Fate,
    SpeculationEnded,
    SpeculationIgnored,
    SpeculationJoined,
    SpeculationStarted,
)
from langgraph_prefetch.keys import SearchKey
from langgraph_prefetch.live_variants import pinned
from langgraph_prefetch.ports import Caller, SearchTool, Work
from langgraph_prefetch.query_hash import query_hash
from langgraph_prefetch.speculation.cache import DECLINED, FAILED_SECONDS, Entry
from langgraph_prefetch.speculation.experience import Decided, sealed
from langgraph_prefetch.speculation.flight import Flight, FlightState
from langgraph_prefetch.speculation.gate import Verdict, Weighing
from langgraph_prefetch.speculation.outbound import held_back
from langgraph_prefetch.speculation.scheduler import Ignore, Join, Launch, Spent, decide
from langgraph_prefetch.speculation.session import Session
from langgraph_prefetch.speculation.watching import PAUSED, Watched
from langgraph_prefetch.speculative import speculating, speculation_id
from langgraph_prefetch.values import Source, Speculation

ACTION = "action"
"""The cue of a call that was read from prose."""

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A retrieval that a signal asks for. ``kind``: guesses of one kind are right about equally often.

    ``planted``: a tool's result told the model to search for it.
    """

    tool: SearchTool
    arguments: Mapping[str, Any]
    source: Source
    probability: float
    cue: str
    step: int
    query: str
    kind: str = ""
    planted: bool = False

    @property
    def textual(self) -> bool:
        """True if it was read from prose as an action."""
        return self.cue == ACTION


def launch(session: Session, wish: Wish, caller: Caller, spent: Spent) -> bool:
    """Carry out what :func:`~langgraph_prefetch.speculation.scheduler.decide` says; True if a retrieval was started.

    In a dry run nothing is, and True says that it would have been.

    Raises:
        UnkeyableError: the arguments have no canonical form.
    """
    key = session.key(wish.tool, wish.arguments, caller)
    found = session.cache.peek(key)
    decision = decide(wish.source, found.state if found else None, spent, session.options.budgets)
    match decision:
        case Ignore(reason):
            _ignored(session, wish, reason)
            return False
        case Join():
            _joined(session, wish, found)
            return False
        case Launch():
            if held := held_back(session, wish):
                _ignored(session, wish, held)
                return False
            return _weighed(session, wish, key, caller)


def _weighed(session: Session, wish: Wish, key: SearchKey, caller: Caller) -> bool:
    """Start it if the gate lets it pass; else keep it in sight, since its end teaches the gate as much."""
    gate, watch, options, policy = session.gate, session.watch, session.options, wish.tool.policy
    if gate is None or watch is None:
        return _start(session, wish, key, caller, None, None)
    if watch.would_be_under_way(key):
        return False
    typical = session.typical.get(policy.name)
    decided = None
    if wish.source is Source.SEALED:
        weighing = sealed(policy, options, typical)
    else:
        decided = gate.weigh(policy, wish.kind or wish.cue, session.budget_scope, wish.probability, options, typical)
        weighing = decided.weighing
    passed = weighing.verdict is Verdict.START
    if passed and not options.dry_run:
        if decided is not None:
            watch.forget(key)
        return _start(session, wish, key, caller, decided, weighing)
    reason, now = DRY_RUN if passed else str(weighing.verdict), session.now
    watch.put(key, Watched(reason, now, now + options.max_age_seconds, decided))
    _ignored(session, wish, reason, weighing)
    return passed


def _start(
    session: Session, wish: Wish, key: SearchKey, caller: Caller, decided: Decided | None, weighing: Weighing | None
) -> bool:
    try:
        work = wish.tool.prepare(wish.arguments, caller)
        if session.elsewhere is not None:
            work = session.elsewhere.work(wish.tool, wish.arguments, key, caller, work)
    except BaseException:
        _take_back(session, decided)
        raise
    work = _while_it_lasts(session, work)
    speculation = Speculation(
        id=f"{os.getpid():x}-{next(_numbers)}",
        tool=wish.tool.policy.name,
        arguments=wish.arguments,
        source=wish.source,
        probability=wish.probability,
        cue=wish.cue,
        run_id=session.run_id,
        step=wish.step,
        dispatched_at=session.now,
    )
    for each in (work, work.otherwise):
        if each is not None:
            each.context.run(speculating.set, True)
            each.context.run(speculation_id.set, speculation.id)
            each.context.run(pinned.set, session.given)
    entry = Entry(
        key,
        speculation,
        Flight(session.shared.clock),
        speculation.dispatched_at + session.options.max_age_seconds,
        lambda entry, fate, reason: _ended(session, speculation, entry, fate, reason),
    )
    entry.decided = decided
    held, new = session.cache.begin(key, session.run_id, lambda: entry)
    if not new:  # another thread began the same one since it was looked for
        _take_back(session, decided)
        _joined(session, wish, held)
        return False
    if reason := _submit(session, wish, entry, work):
        entry.discard()
        session.cache.remove(entry)
        _take_back(session, decided)
        _ignored(session, wish, reason, weighing)
        return False
    session.events(
        SpeculationStarted(
            run_id=session.run_id,
            step=wish.step,
            at=speculation.dispatched_at,
            speculation_id=speculation.id,
            tool=speculation.tool,
            source=wish.source,
            probability=wish.probability,
            cue=wish.cue,
            query=_shown(session, wish),
            p_served=weighing.p_served if weighing else None,
            saved_seconds=weighing.seconds if weighing else None,
            gain=weighing.gain if weighing else None,
            loss=weighing.loss if weighing else None,
            destination=wish.tool.policy.destination,
            query_hash=query_hash(wish.query),
        )
    )
    # Only now may its end be told: it may have ended already.
    entry.flight.on_end(lambda _: _landed(session, entry, speculation.tool))
    return True


def _while_it_lasts(session: Session, work: Work) -> Work:
    otherwise = work.otherwise and _while_it_lasts(session, work.otherwise)
    return replace(work, otherwise=otherwise, wanted=lambda: not session.over.is_set())


def _submit(session: Session, wish: Wish, entry: Entry, work: Work) -> str | None:
    """Hand the retrieval to the executor; the reason why it was not taken, or None."""
    ledger, budgets = session.shared.ledger, session.options.budgets
    if used_up := ledger.admit(session.budget_scope, budgets.per_scope_per_minute, budgets.per_process_per_minute):
        return f"budget: {used_up}"
    try:
        session.shared.executor.submit(entry.flight, work, session.lane(wish.tool), wish.tool.policy)
    except SpeculationRejectedError as error:
        ledger.withdraw(session.budget_scope)
        return f"rejected: {error.reason}"
    return None


def _landed(session: Session, entry: Entry, tool: str) -> None:
    """The retrieval ended: learn how long it took; a failure stays in the cache for a moment as a failure."""
    flight = entry.flight
    if flight.state is FlightState.READY:
        if flight.seconds is not None:
            session.typical.add(tool, flight.seconds)
        return
    entry.settle_unserved("its tool gave it up")
    declined = isinstance(
        flight.error, SpeculationDeclinedError
    )  # no failure of the backend: nothing is held against it
    if session.cache.remove(entry) and flight.state is FlightState.FAILED and not declined:
        entry.expires_at = session.now + FAILED_SECONDS
        session.cache.put(entry)


def _take_back(session: Session, decided: Decided | None) -> None:
    if session.gate is not None and decided is not None:
        session.gate.drop(decided)


def _ended(session: Session, speculation: Speculation, entry: Entry, fate: Fate, reason: str) -> None:
    if session.gate is not None and entry.decided is not None and fate is not Fate.SERVED:
        if reason in (PAUSED, DECLINED):
            session.gate.drop(entry.decided)
        else:
            session.gate.learn(entry.decided, right=False)
    session.events(
        SpeculationEnded(
            run_id=speculation.run_id,
            step=speculation.step,
            at=session.now,
            speculation_id=speculation.id,
            tool=speculation.tool,
            source=speculation.source,
            fate=fate,
            reason=reason,
            seconds=entry.flight.seconds,
        )
    )


def _joined(session: Session, wish: Wish, entry: Entry | None) -> None:
    if entry is None:
        return
    entry.runs.add(session.run_id)
    if entry.speculation is None:  # a real call's own result, kept for reuse
        return
    session.events(
        SpeculationJoined(
            run_id=session.run_id,
            step=wish.step,
            at=session.now,
            speculation_id=entry.speculation.id,
            tool=wish.tool.policy.name,
            source=wish.source,
        )
    )


def _ignored(session: Session, wish: Wish, reason: str, weighing: Weighing | None = None) -> None:
    session.events(
        SpeculationIgnored(
            run_id=session.run_id,
            step=wish.step,
            at=session.now,
            tool=wish.tool.policy.name,
            source=wish.source,
            reason=reason,
            query=_shown(session, wish),
            p_served=weighing.p_served if weighing else None,
            saved_seconds=weighing.seconds if weighing else None,
            gain=weighing.gain if weighing else None,
            loss=weighing.loss if weighing else None,
        )
    )


def _shown(session: Session, wish: Wish) -> str | None:
    return wish.query if session.options.log_queries else None
