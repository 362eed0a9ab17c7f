"""The shell that asks judges: side by side, within bounds, each reply kept before it is used."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from langchain_core.runnables import Runnable
from langsmith import tracing_context

from langgraph_prefetch.evaluation.judging.judge import Judge, JudgeLimits
from langgraph_prefetch.evaluation.judging.many import each
from langgraph_prefetch.evaluation.judging.reading import MAX_DETAIL, read_output
from langgraph_prefetch.evaluation.judging.replies import Answer, Ask
from langgraph_prefetch.evaluation.judging.spending import REPLY_TOKENS, JudgePlan, Ledger, tokens_of
from langgraph_prefetch.evaluation.judging.stale import past_stale_connections
from langgraph_prefetch.evaluation.judging.store import VerdictStore
from langgraph_prefetch.evaluation.judging.values import Reason


class Asker:
    """Asks, and never raises what a judge does wrong: that is an answer with a reason.

    It belongs to no event loop: each call of :meth:`all` may come from another one, but not two at a time.
    """

    def __init__(self, judges: Sequence[Judge], limits: JudgeLimits, store: VerdictStore) -> None:
        self.judges: Mapping[str, Judge] = {judge.name: judge for judge in judges}
        self.limits, self.store = limits, store
        self.ledger = Ledger(budget=limits.budget)
        self._silent: Counter[str] = Counter()
        self._models: dict[tuple[str, str, str], Runnable[object, object]] = {}
        self._turns: tuple[asyncio.AbstractEventLoop, asyncio.Semaphore] | None = None

    async def all(self, asks: Sequence[Ask]) -> dict[str, Answer]:
        """The answers by key. What is asked several times is asked once.

        Raises:
            JudgeModelError: a judge's model has no structured output.
            VerdictFileError: a reply cannot be kept; the calls under way are cancelled.
        """
        wanted = {ask.key: ask for ask in asks}
        answers = await each(list(wanted.values()), self.one, self.limits.max_concurrency)
        return dict(zip(wanted, answers, strict=True))

    async def limited(self, ask: Ask) -> Answer:
        """One answer, in its turn: for callers that ask in several places at a time."""
        loop = asyncio.get_running_loop()
        if self._turns is None or self._turns[0] is not loop:
            self._turns = loop, asyncio.Semaphore(self.limits.max_concurrency)
        async with self._turns[1]:
            return await self.one(ask)

    async def one(self, ask: Ask) -> Answer:
        """One answer; the caller bounds how many are under way."""
        kept = self.store.get(ask)
        if kept is not None:
            self.ledger.stored += 1
            return kept
        judge = self.judges[ask.judge]
        if self._silent[judge.name] >= self.limits.give_up_after:
            return Answer.without(Reason.GAVE_UP, f"after {self.limits.give_up_after} calls in a row without a reply")
        reserved = self._expected(judge, ask)
        model = self._model(judge, ask)
        if not self.ledger.reserve(reserved):
            return Answer.without(Reason.OUT_OF_BUDGET)
        answer = Answer.without(Reason.FAILED, "cancelled")
        try:
            answer = self._priced(judge, await self._call(model, ask))
        finally:
            spent = answer.money or 0.0
            self.ledger.settle(reserved, spent, answer.input_tokens, answer.output_tokens)
        self._silent[judge.name] = 0 if answer.came else self._silent[judge.name] + 1
        await asyncio.to_thread(self.store.put, ask, answer)
        return answer

    def plan(self, asks: Sequence[Ask]) -> JudgePlan:
        """What :meth:`all` would do, counted; nothing is called."""
        wanted = {ask.key: ask for ask in asks}
        new = [ask for ask in wanted.values() if self.store.get(ask) is None]
        prices = [self.judges[ask.judge].price for ask in new]
        known = all(price is not None for price in prices)
        money = sum(self._expected(self.judges[ask.judge], ask) for ask in new) if known else None
        budget = self.limits.budget
        return JudgePlan(
            calls=len(new),
            stored=len(wanted) - len(new),
            input_tokens=sum(tokens_of(ask.messages) for ask in new),
            output_tokens=REPLY_TOKENS * len(new),
            money=money,
            within_budget=(budget.calls is None or len(new) <= budget.calls)
            and (budget.money is None or (money is not None and money <= budget.money)),
        )

    async def _call(self, model: Runnable[object, object], ask: Ask) -> Answer:
        started = time.monotonic()
        output: object = None
        failed: Answer | None = None
        try:
            # Samples are the user's data, and go to the judge alone.
            with tracing_context(enabled=False):
                async with asyncio.timeout(self.limits.timeout_seconds):
                    output = await past_stale_connections(
                        lambda: model.ainvoke(list(ask.messages)), lambda: self._charge(ask)
                    )
        except TimeoutError:
            failed = Answer.without(Reason.TIMED_OUT, f"no reply in {self.limits.timeout_seconds:g} s")
        except Exception as error:  # noqa: BLE001  whatever a provider's client raises is a judge that failed
            failed = Answer.without(Reason.FAILED, f"{type(error).__name__}: {error}"[:MAX_DETAIL])
        answer = read_output(output, self.limits.max_reply_chars) if failed is None else failed
        read, written = _tokens(output, ask, answer)
        return replace(answer, seconds=time.monotonic() - started, input_tokens=read, output_tokens=written)

    def _model(self, judge: Judge, ask: Ask) -> Runnable[object, object]:
        key = (judge.name, ask.prompt, ask.prompt_digest)  # making one takes longer than a call to a fast judge
        if key not in self._models:
            self._models[key] = judge.asked_for(ask.schema)
        return self._models[key]

    def _charge(self, ask: Ask) -> bool:
        money = self._expected(self.judges[ask.judge], ask)
        if not self.ledger.reserve(money):
            return False
        self.ledger.settle(money, money, tokens_of(ask.messages), 0)
        return True

    def _expected(self, judge: Judge, ask: Ask) -> float:
        return 0.0 if judge.price is None else judge.price.of(tokens_of(ask.messages), REPLY_TOKENS)

    def _priced(self, judge: Judge, answer: Answer) -> Answer:
        if judge.price is None:
            return answer
        return replace(answer, money=judge.price.of(answer.input_tokens, answer.output_tokens))


def _tokens(output: object, ask: Ask, answer: Answer) -> tuple[int, int]:
    """As the provider reports, or else estimated. A call that failed is taken to have been read: it may have been."""
    raw = output.get("raw") if isinstance(output, Mapping) else None
    usage = getattr(raw, "usage_metadata", None)
    if usage:
        return int(usage["input_tokens"]), int(usage["output_tokens"])
    return tokens_of(ask.messages), tokens_of([("", answer.text)]) if answer.text else 0
