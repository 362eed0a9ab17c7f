"""Private model calls of all runs of one prefetcher: decides on them at the tools, adopts them at the model."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt.tool_node import ToolCallRequest

from langgraph_prefetch.events import DRY_RUN, NextCallIgnored, NextCallStarted
from langgraph_prefetch.graph.arrival import handlers_of
from langgraph_prefetch.graph.callback import StreamListener
from langgraph_prefetch.graph.caller import ambient_config, running_loop
from langgraph_prefetch.graph.current import current_run
from langgraph_prefetch.graph.guard import Guard
from langgraph_prefetch.graph.next_call.ahead import Pending, RunAhead
from langgraph_prefetch.graph.next_call.guessing import ask
from langgraph_prefetch.graph.next_call.made import Made
from langgraph_prefetch.graph.next_call.private import PrivateCall
from langgraph_prefetch.graph.next_call.requests import acts_by_itself, same_message
from langgraph_prefetch.graph.next_call.steps import (
    P_RESULT,
    RESULT,
    Expected,
    ToolStep,
    kind_of,
    outstanding,
    probability_of,
    tool_message,
)
from langgraph_prefetch.graph.next_call.tokens import tokens_read
from langgraph_prefetch.graph.next_call.visit import Visit
from langgraph_prefetch.graph.tools import output_of
from langgraph_prefetch.guesses import ResultGuess
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.prefetcher import PrefetchEngine, Run
from langgraph_prefetch.prefetcher.run import query_of
from langgraph_prefetch.speculation.call import SearchCall
from langgraph_prefetch.speculation.earlier_results import EarlierResults
from langgraph_prefetch.speculation.next_call import (
    NextCallExperience,
    NextCallsSpent,
    NextCallVerdict,
    next_call_held_back,
)
from langgraph_prefetch.speculation.posterior import DEFAULT_SECONDS

RATE_LIMITED = "next call: rate limiter"
"""A guess may not use up what real calls wait for."""
ACTS_BY_ITSELF = "next call: hosted tools"
"""The provider may act during the call, which nobody may ever ask for."""

Result = TypeVar("Result")

_numbers = itertools.count(1)


class NextModelCalls:
    """The next model calls of one prefetcher.

    Args:
        engine: whose runs these are.
        earlier: its earlier results.
    """

    def __init__(self, engine: PrefetchEngine, earlier: EarlierResults) -> None:
        self.engine, self.earlier = engine, earlier
        self.experience = NextCallExperience()
        self._lock = ForkSafeLock()
        self._running, self._process = 0, os.getpid()
        self._rewritten: set[str] = set()
        self._classes: dict[type[BaseChatModel], type[BaseChatModel]] = {}

    def model_class(self, of: type[BaseChatModel], make: Callable[[], type[BaseChatModel]]) -> type[BaseChatModel]:
        """The class of owned models of class ``of``; made once, so that it is the same for all of them."""
        with self._lock:
            found = self._classes.get(of)
            if found is None:
                found = self._classes[of] = make()
        return found

    @property
    def paused(self) -> bool:
        """The kill switch is thrown."""
        return not self.engine.enabled

    def rewrites(self, tool: str, *, rewritten: bool) -> None:
        """Whether what the model read of this tool was something else than the tool had returned."""
        (self._rewritten.add if rewritten else self._rewritten.discard)(tool)

    # --- at the model

    def visit(
        self,
        model: BaseChatModel,
        method: Callable[..., Any],
        messages: Sequence[BaseMessage],
        settings: Mapping[str, Any],
        *,
        way: str,
        told: bool,
    ) -> Visit | None:
        """A real call of an owned model begins; None if it is not one of the agent's own. Never raises."""
        with Guard(self.engine, "next call"):
            run = agents_run(self.engine) if self.engine.enabled else None
            if run is None:
                return None
            ahead = self._of(run)
            made = Made(
                model=model,
                method=method,
                way=way,
                told=told,
                messages=messages,
                settings=settings,
                loop=running_loop(),
                step=run.step,
            )
            ahead.look_at(messages)
            return Visit(ahead, made, ahead.claim(made))
        return None

    # --- at the tools

    def during(self, run: Run | None, request: ToolCallRequest, call: SearchCall | None) -> DuringCall:
        """Around one call of a tool; ``call``: of a named one."""
        return DuringCall(self, run, request, call)

    def arrived(self, ahead: RunAhead, step: ToolStep, request: ToolCallRequest, call: SearchCall | None) -> None:
        """A tool is about to be asked: say what it will probably return."""
        tool_call, name = request.tool_call, request.tool_call["name"]
        call_id = str(tool_call["id"])
        if request.tool is not None and request.tool.return_direct:
            step.decided = True  # the run ends with the tool
        if step.decided or call is None:
            return
        at_hand = call.at_hand()
        if at_hand is not None and name not in self._rewritten:
            message = tool_message(at_hand, tool_call)
            expected = Expected(message=message, kind=RESULT, probability=P_RESULT, outstanding=False, tool=name)
            step.expect(call_id, expected)
            self._consider(ahead, step)
        elif at_hand is None:

            def told(guess: ResultGuess) -> None:
                message = tool_message(guess.output, tool_call)
                step.expect(
                    call_id, Expected(message=message, kind=guess.kind, probability=guess.probability, tool=name)
                )
                self._consider(ahead, step)

            ask(self.engine, self.earlier, ahead.session, call, told)

    def came(
        self, ahead: RunAhead, step: ToolStep, request: ToolCallRequest, call: SearchCall | None, got: Any
    ) -> None:
        """A tool has returned."""
        tool_call, name = request.tool_call, request.tool_call["name"]
        call_id, message = str(tool_call["id"]), got if isinstance(got, ToolMessage) else None
        output = output_of(name, tool_call["id"], got)
        result = None
        if call is not None and output is not None:
            result = self.earlier.keep(call.key, call.arguments, query_of(call.tool, call.arguments), output)
        if message is not None:
            ahead.keeps(ahead.snapshots.of(message), result)
        rewritten = name in self._rewritten
        before = step.expected(call_id)
        step.came(call_id, None if rewritten else message, name)
        pending = ahead.pending_of(step)
        if pending is None:
            self._consider(ahead, step)
            return
        if not rewritten and not _as_expected(before, message):
            ahead.wrong(pending, "a tool returned something else")
        elif step.all_came:
            pending.came_at = ahead.session.now

    def _consider(self, ahead: RunAhead, step: ToolStep) -> None:
        """Start the next model call in private if all results are known or guessed, and some are still waited for."""
        with ahead.lock:
            expected = step.complete()
            if step.decided or expected is None or not (waited_for := outstanding(expected)):
                return
            step.decided = True
        made, session, options = step.made, ahead.session, self.engine.options
        results = [each.message for each in expected if each.message is not None]
        request = made.request([ahead.snapshots.of(each) for each in (*made.messages, step.message, *results)])
        typical = [session.typical.get(tool) for tool in waited_for]
        rules, kind = options.next_calls, kind_of(expected)
        decided = self.experience.weigh(
            kind,
            probability_of(expected),
            max(DEFAULT_SECONDS if each is None else each for each in typical),
            tokens_read(request.messages, request.settings) if rules.token_price is not None else 0,
            rules,
            options.value_of_second,
        )
        pending = Pending(request, step, decided, session.now)
        weighing = decided.weighing
        numbers: dict[str, Any] = {
            "run_id": session.run_id,
            "step": made.step + 1,
            "at": session.now,
            "guesses": kind,
            "p_equal": weighing.p_equal,
            "saved_seconds": weighing.seconds,
            "gain": weighing.gain,
            "loss": weighing.loss,
        }
        reason = None if weighing.verdict is NextCallVerdict.START else str(weighing.verdict)
        if reason := unfit(made) or reason or (DRY_RUN if options.dry_run else self._admit(ahead)):
            session.events(NextCallIgnored(reason=reason, **numbers))
            ahead.expects(pending)
            return
        pending.id = f"{os.getpid():x}-{next(_numbers)}"
        pending.private, pending.run_id = made.in_private(
            request,
            traced=options.trace_speculations,
            clock=session.shared.clock,
            wanted=lambda: ahead.wanted(pending),
            on_stop=lambda private: self._stopped(ahead, pending, private),
        )
        session.events(NextCallStarted(next_call_id=pending.id, **numbers))
        ahead.expects(pending)
        pending.private.start()

    def _admit(self, ahead: RunAhead) -> str | None:
        """Count one more, unless a bound is reached; then its name."""
        with self._lock:
            if self._process != os.getpid():  # what runs in the process that this one was forked from is not ours
                self._running, self._process = 0, os.getpid()
            spent = NextCallsSpent(
                in_run=ahead.started, running=self._running, backed_off_until=self.experience.backed_off_until
            )
            if held := next_call_held_back(spent, self.engine.options.next_calls, ahead.session.now):
                return f"next call: {held}"
            ahead.started += 1
            self._running += 1
        return None

    def _stopped(self, ahead: RunAhead, pending: Pending, private: PrivateCall) -> None:
        with self._lock:
            self._running -= 1
        with Guard(self.engine, "next call end"):
            ahead.stopped(pending)

    def _of(self, run: Run) -> RunAhead:
        with self._lock:
            found: RunAhead | None = run.kept.get(self)
            if found is None:
                # With the run, not here: what it holds leads back to the run, which nobody may keep alive.
                found = run.kept[self] = RunAhead(self, run)
                run.at_end.append(found.end)
        return found

    def ahead_of(self, run: Run) -> RunAhead | None:
        """What is known of ``run``, if a model call of its own was seen."""
        found: RunAhead | None = run.kept.get(self)
        return found


class DuringCall:
    """Around one call of a tool. Nothing here raises but what the tool itself raises."""

    __slots__ = ("_ahead", "_call", "_calls", "_request", "_run", "_step")

    def __init__(
        self, calls: NextModelCalls, run: Run | None, request: ToolCallRequest, call: SearchCall | None
    ) -> None:
        self._calls, self._run, self._request, self._call = calls, run, request, call
        self._ahead: RunAhead | None = None
        self._step: ToolStep | None = None

    def __enter__(self) -> DuringCall:
        with Guard(self._calls.engine, "next call"):
            if self._run is not None and self._calls.engine.enabled:
                self._ahead = self._calls.ahead_of(self._run)
            if self._ahead is not None:
                self._step = self._ahead.step_of(str(self._request.tool_call["id"]), self._request.state)
            if self._ahead is not None and self._step is not None:
                self._calls.arrived(self._ahead, self._step, self._request, self._call)
        return self

    def came(self, result: Result) -> Result:
        """The tool returned this."""
        if self._ahead is not None and self._step is not None:
            with Guard(self._calls.engine, "next call"):
                self._calls.came(self._ahead, self._step, self._request, self._call, result)
        return result

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is not None and self._ahead is not None and self._step is not None:
            with Guard(self._calls.engine, "next call"):
                reason = "interrupted" if isinstance(error, GraphBubbleUp) else "a tool failed"
                self._ahead.leave(self._step, reason)


def agents_run(engine: PrefetchEngine) -> Run | None:
    """The run whose agent calls a model in the present context; None for a model that is called inside a tool."""
    callbacks = (ambient_config() or {}).get("callbacks")
    for handler in handlers_of(callbacks):
        if isinstance(handler, StreamListener) and handler.engine is engine:
            parent = getattr(callbacks, "parent_run_id", None)
            return None if handler.is_elsewhere(parent) else handler.run_of(parent)
    return current_run(engine)


def unfit(made: Made) -> str | None:
    """Why calls of this kind are never made in private; None if nothing speaks against it."""
    if made.model.rate_limiter is not None:
        return RATE_LIMITED
    return ACTS_BY_ITSELF if acts_by_itself(made.settings) else None


def _as_expected(before: Expected | None, message: ToolMessage | None) -> bool:
    if before is None or before.message is None or message is None:
        return before is None or before.message is message
    return same_message(before.message, message)
