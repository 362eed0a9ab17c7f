"""One run's private calls: which are under way, and what becomes of each once the real request is there."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from langchain_core.messages import BaseMessage, ToolMessage

from langgraph_prefetch.events import NextCallEnded, NextCallFate
from langgraph_prefetch.graph.next_call.made import Made
from langgraph_prefetch.graph.next_call.private import PrivateCall
from langgraph_prefetch.graph.next_call.requests import Request, Snapshots, answers_calls, same_message, same_request
from langgraph_prefetch.graph.next_call.steps import ToolStep, message_of_call
from langgraph_prefetch.graph.next_call.tokens import Tokens, tokens_of
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.prefetcher import Run
from langgraph_prefetch.speculation.earlier_results import EarlierResult
from langgraph_prefetch.speculation.next_call import NextCallDecided
from langgraph_prefetch.values import Output

if TYPE_CHECKING:
    from langgraph_prefetch.graph.next_call.calls import NextModelCalls

MAX_CALLS = 512
MAX_PENDING = 64
_NO_TOKENS = Tokens()
UNCLAIMED_SECONDS = 10.0
"""So long after all tools have returned a private call goes on without being asked for: nodes may lie in between."""


@dataclass(eq=False, slots=True)
class Pending:
    """A request that is expected to come; ``private``: the call, where it was started.

    Attributes:
        id: of the private call.
        run_id: what the private call has in place of the real run's id.
        at: when it was decided on, in clock seconds.
        came_at: when the last of its tools had returned.
        asked_at: when the real request came.
        reason: why it was given up.
        fate: how the private call ended.
    """

    request: Request
    step: ToolStep
    decided: NextCallDecided
    at: float
    id: str = ""
    private: PrivateCall | None = None
    run_id: UUID | None = None
    came_at: float | None = None
    asked_at: float = 0.0
    reason: str = ""
    fate: NextCallFate | None = None


class RunAhead:
    """What one run knows of its model calls and tool calls. Safe for threads.

    Args:
        calls: what all runs share.
        run: the run, which is not held.
    """

    def __init__(self, calls: NextModelCalls, run: Run) -> None:
        self.calls, self.session, self._run = calls, run.session, weakref.ref(run)
        self.lock = ForkSafeLock()
        self.snapshots = Snapshots()
        self.started = 0
        self._made: OrderedDict[str, Made] = OrderedDict()
        self._steps: OrderedDict[str, ToolStep] = OrderedDict()
        self._results: OrderedDict[str, tuple[ToolMessage, EarlierResult | None]] = OrderedDict()
        self._pending: list[Pending] = []

    @property
    def is_over(self) -> bool:
        """The run was closed, or is gone."""
        run = self._run()
        return run is None or run.is_over

    # --- the model's side

    def made_calls(self, call_ids: Sequence[str], made: Made) -> None:
        """The model call ``made`` makes these tool calls."""
        with self.lock:
            for call_id in call_ids:
                self._made[call_id] = made
                self._steps.pop(call_id, None)
            _bound(self._made)

    def claim(self, made: Made) -> Pending | None:
        """The private call of this very request; those that this request shows to be wrong are given up."""
        with self.lock:
            pending = tuple(self._pending)
        if not pending:
            return None
        request = made.request(made.messages)
        found = next((each for each in pending if same_request(each.request, request)), None)
        overtaken = [each for each in pending if found is None and _overtakes(request, each)]
        for each in overtaken:
            self.wrong(each, "the request differs")
        if found is None or not self._take(found):
            return None
        if found.private is None:  # it was not started, but would have been right
            self.calls.experience.learn(found.decided, right=True, seconds=self.session.now - found.at)
            return None
        found.asked_at = self.session.now
        if not found.private.adopt():
            self.settle(found, NextCallFate.FAILED if found.private.failed else NextCallFate.CANCELLED)
            return None
        return found

    def look_at(self, messages: Sequence[BaseMessage]) -> None:
        """Learn from a request how its tool results look to the model, which wrappers may have changed."""
        for message in reversed(messages):
            if not isinstance(message, ToolMessage):
                break
            with self.lock:
                found = self._results.pop(message.tool_call_id, None)
            if found is not None:
                raw, result = found
                self.calls.rewrites(str(raw.name), rewritten=not same_message(raw, message))
                if result is not None:
                    result.output = Output(message.content, message.artifact)

    def handed_over(self, pending: Pending) -> None:
        """The first piece of an adopted call goes to the graph."""
        private = pending.private
        if private is None or pending.fate is not None:
            return
        asked_at = pending.asked_at
        hidden = max(0.0, min(asked_at, private.ended_at or asked_at) - private.started_at)
        self.calls.experience.learn(pending.decided, right=True, seconds=hidden)
        self.calls.experience.went_well()
        self._end(
            pending, NextCallFate.ADOPTED, "the request is the same", asked_at - private.started_at, hidden=hidden
        )

    # --- the tools' side

    def step_of(self, call_id: str, state: object) -> ToolStep | None:
        """The step that a tool call belongs to; None if its model call was not ours."""
        with self.lock:
            step, made = self._steps.get(call_id), self._made.get(call_id)
        if step is not None or made is None:
            return step
        message = message_of_call(state, call_id)
        if message is None:
            return None
        new = ToolStep(message, made)
        with self.lock:
            step = self._steps.setdefault(call_id, new)  # a call of the same message may have come just now
            for each in step.call_ids:
                self._steps.setdefault(each, step)
            _bound(self._steps)
        return step

    def keeps(self, message: ToolMessage, result: EarlierResult | None) -> None:
        """A tool returned this; ``result``: it may be guessed again."""
        with self.lock:
            self._results[message.tool_call_id] = (message, result)
            _bound(self._results)

    def expects(self, pending: Pending) -> None:
        """A request is expected, whether it was started or not."""
        with self.lock:
            self._pending.append(pending)
            dropped = self._pending[0] if len(self._pending) > MAX_PENDING else None
        if dropped is not None:
            self.drop(dropped, "expired")

    def pending_of(self, step: ToolStep) -> Pending | None:
        """The request that is expected after this step."""
        with self.lock:
            return next((each for each in self._pending if each.step is step), None)

    def leave(self, step: ToolStep, reason: str) -> None:
        """The step did not end as it should: it may come again."""
        with self.lock:
            for call_id in step.call_ids:
                self._steps.pop(call_id, None)
        pending = self.pending_of(step)
        if pending is not None:
            self.drop(pending, reason)

    # --- ends

    def wanted(self, pending: Pending) -> bool:
        """Whether a private call may still be asked for."""
        late = pending.came_at is not None and self.session.now - pending.came_at > UNCLAIMED_SECONDS
        if late or self.is_over:
            self.drop(pending, "nobody asked for it")
            return False
        return True

    def end(self, reason: str) -> None:
        """The run is over, or its prefetches are given up."""
        with self.lock:
            pending = tuple(self._pending)
            if self.is_over:
                self._made.clear()
                self._steps.clear()
                self._results.clear()
        for each in pending:
            if each.step.all_came and not self.calls.paused:  # there was no next model call
                self.wrong(each, reason)
            else:
                self.drop(each, reason)

    def wrong(self, pending: Pending, reason: str) -> None:
        """The real request differs, or will."""
        if self._take(pending):
            self.calls.experience.learn(pending.decided, right=False)
            self._give_up(pending, reason)

    def drop(self, pending: Pending, reason: str) -> None:
        """Given up from outside, which says nothing of the guess."""
        if self._take(pending):
            self._give_up(pending, reason)

    def stopped(self, pending: Pending) -> None:
        """The private call has stopped, whatever stopped it."""
        private = pending.private
        if private is None or private.adopted:
            return
        if private.failed:
            self._take(pending)
            self.settle(pending, NextCallFate.FAILED)
        elif pending.reason:
            self.settle(pending, NextCallFate.CANCELLED)

    def settle(self, pending: Pending, fate: NextCallFate) -> None:
        """One that nobody used has stopped: say what it cost."""
        private = pending.private
        if private is None:
            return
        seconds = (private.ended_at or self.session.now) - private.started_at
        reason = pending.reason
        if fate is NextCallFate.FAILED:
            reason = type(private.error).__name__
            self.calls.experience.failed(self.session.now)
        tokens = tokens_of(pending.request.messages, pending.request.settings, private.given)
        if self._end(pending, fate, reason, seconds, tokens=tokens):
            self.calls.experience.wrote(tokens.written)

    def _give_up(self, pending: Pending, reason: str) -> None:
        pending.reason = reason
        if pending.private is not None:
            pending.private.cancel()
            if pending.private.ended_at is not None:
                self.stopped(pending)

    def _take(self, pending: Pending) -> bool:
        with self.lock:
            if pending not in self._pending:
                return False
            self._pending.remove(pending)
            return True

    def _end(
        self,
        pending: Pending,
        fate: NextCallFate,
        reason: str,
        seconds: float,
        *,
        hidden: float = 0.0,
        tokens: Tokens = _NO_TOKENS,
    ) -> bool:
        with self.lock:
            if pending.fate is not None:
                return False
            pending.fate = fate
        self.session.events(
            NextCallEnded(
                run_id=self.session.run_id,
                step=pending.step.made.step + 1,
                at=self.session.now,
                next_call_id=pending.id,
                fate=fate,
                reason=reason,
                seconds=seconds,
                hidden_seconds=hidden,
                wasted_input_tokens=tokens.read,
                wasted_output_tokens=tokens.written,
            )
        )
        return True


def _overtakes(request: Request, pending: Pending) -> bool:
    """The real call after this step is here, and it is another one."""
    return pending.step.all_came or answers_calls(request.messages, frozenset(pending.step.call_ids))


def _bound(held: OrderedDict[str, Any]) -> None:
    while len(held) > MAX_CALLS:
        held.popitem(last=False)
