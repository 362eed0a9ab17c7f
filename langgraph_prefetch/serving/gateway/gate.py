"""One component behind a gateway: its breaker, its places, its price."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from decimal import Decimal
from typing import Any, Protocol

from langgraph_prefetch.errors import BreakerOpenError, OverLimitError, SpeculationDeclinedError
from langgraph_prefetch.events import BreakerMoved, ComponentCalled, EventHub
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.money import shown
from langgraph_prefetch.ports import Clock
from langgraph_prefetch.serving.gateway._extras import Breaker, BreakerRule, Entered
from langgraph_prefetch.serving.gateway.accounts import Account
from langgraph_prefetch.serving.gateway.answers import Meter
from langgraph_prefetch.serving.gateway.calls import Call, current_pipeline
from langgraph_prefetch.serving.gateway.limit import AdaptiveLimit, LimitRule
from langgraph_prefetch.serving.gateway.outages import PassingError, is_outage, is_signal
from langgraph_prefetch.serving.gateway.places import Places, SpilledError
from langgraph_prefetch.serving.gateway.prices import CallPrice, charges
from langgraph_prefetch.serving.gateway.spilling import Spilling, SpillRule
from langgraph_prefetch.speculative import speculation_id


class Warmth(Protocol):
    """Waits until a component is warm, and starts it if need be; raises where it does not start."""

    def ready(self) -> None:
        """In a thread."""
        ...

    async def aready(self) -> None:
        """In an event loop."""
        ...


class Gate:
    """What stands before one component. Safe for threads.

    Args:
        name: of the component.
        component: LangChain's; the gate itself never calls it.
        gateway: name of the gateway.
        breaker: when it is no longer asked; None: it always is.
        limit: calls at once; None: any number.
        spill: when calls that find no place go elsewhere; None: never.
        price: of a call; None: it is not accounted for.
        account, events, clock: shared by the gateway's gates.
        warm: what its call waits for, besides a place; None: nothing.
        degraded: its answers are marked.
        spilled: it takes what another had no place for.
    """

    def __init__(
        self,
        name: str,
        component: Any,
        *,
        gateway: str,
        breaker: BreakerRule | None,
        limit: LimitRule | None,
        spill: SpillRule | None = None,
        price: CallPrice | None = None,
        account: Account,
        events: EventHub,
        clock: Clock,
        warm: Warmth | None = None,
        degraded: bool = False,
        spilled: bool = False,
    ) -> None:
        self.name, self.component, self.gateway = name, component, gateway
        self.degraded, self.spilled, self.warm = degraded, spilled, warm
        self.account, self.events, self.clock, self.price = account, events, clock, price
        self._breaker = Breaker(name, breaker) if breaker is not None else None
        spilling = Spilling(spill) if spill is not None else None
        self.places = Places(name, AdaptiveLimit(limit), spilling, clock) if limit is not None else None
        self._lock = ForkSafeLock()

    @property
    def state(self) -> str:
        """Of the breaker: ``closed``, ``opened`` or ``half-opened``."""
        return "closed" if self._breaker is None else self._breaker.state

    @contextmanager
    def calling(self, call: Call) -> Iterator[Visit]:
        """Around one call of the component. An error in the block is the component's, and counts as such.

        Raises:
            BreakerOpenError, OverLimitError: it is not to be asked.
            SpeculationDeclinedError: likewise, of a call that nobody has asked for; carried by a `PassingError`.
        """
        visit = Visit(self, call)
        try:
            visit.ask()
            yield visit
        except (BreakerOpenError, OverLimitError) as error:
            if visit.entered is not None:  # a gateway behind this one
                visit.ended(error)
                raise
            visit.refused(error)
            if call.speculative:
                raise PassingError(SpeculationDeclinedError(f"no room for early calls: {error}")) from error
            raise
        except PassingError as carried:
            visit.ended(carried.error)
            if is_signal(carried.error) or not isinstance(carried.error, Exception):
                raise
            raise carried.error from None
        except BaseException as error:
            visit.ended(error)
            raise
        else:
            visit.ended(None)

    def enter(self) -> Entered | None:
        """Past the breaker.

        Raises:
            BreakerOpenError: it is open.
        """
        if self._breaker is None:
            return None
        with self._lock:
            before = self._breaker.state
            entered = self._breaker.enter(self.clock())
            after = self._breaker.state
        self._moved(before, after)
        return entered

    def check(self) -> None:
        """Is it worth waiting for a place?

        Raises:
            BreakerOpenError: no.
        """
        if self._breaker is not None and (left := self._breaker.remaining(self.clock())) > 0:
            raise BreakerOpenError(self.name, left)

    def leave(self, entered: Entered | None, error: BaseException | None) -> None:
        """What came of it. A caller that went away or was wrong itself says nothing of the component."""
        if self._breaker is None or entered is None:
            return
        with self._lock:
            before = self._breaker.state
            if error is None or is_outage(error):
                self._breaker.leave(entered, self.clock(), error)
            elif isinstance(error, Exception):
                self._breaker.leave(entered, self.clock(), None)  # it answered, though not with an answer
            else:
                self._breaker.abandon(entered)
            after = self._breaker.state
        self._moved(before, after)

    def _moved(self, before: str, after: str) -> None:
        if before != after:
            self.events(BreakerMoved(at=self.clock(), gateway=self.gateway, component=self.name, state=after))


class Visit:
    """One call of one component, from asking for a place to giving it back."""

    def __init__(self, gate: Gate, call: Call) -> None:
        self.gate, self._call = gate, call
        self._asked_at = self._began_at = gate.clock()
        self._waiting: Future[None] | None = None
        self._placed = False
        self._first_at: float | None = None
        self._meter = Meter()
        self.entered: Entered | bool | None = None

    def ask(self) -> None:
        """Ask breaker and places; raises as `Gate.calling` says."""
        self.gate.check()
        if self.gate.places is not None:
            self._waiting = self.gate.places.ask(speculative=self._call.speculative)
            self._placed = self._waiting is None
        if self._waiting is None:
            self._enter()

    def wait(self) -> None:
        """Wait for the place and for warmth, in a thread."""
        if self._waiting is not None and self.gate.places is not None:
            self.gate.places.wait(self._waiting)
            self._placed = True
            self._enter()
        if self.gate.warm is not None:
            self.gate.warm.ready()
            self._began_at = self.gate.clock()

    async def await_(self) -> None:
        """Wait for the place and for warmth, in an event loop."""
        if self._waiting is not None and self.gate.places is not None:
            await self.gate.places.await_(self._waiting)
            self._placed = True
            self._enter()
        if self.gate.warm is not None:
            await self.gate.warm.aready()
            self._began_at = self.gate.clock()

    def _enter(self) -> None:
        self.entered = self.gate.enter() or True
        self._began_at = self.gate.clock()

    def part(self, part: Any) -> Any:
        """The component gave a part of a stream."""
        if self._first_at is None:
            self._first_at = self.gate.clock()
        return self.answer(part)

    def answer(self, answer: Any) -> Any:
        """The component gave an answer."""
        self._meter.read(answer)
        return answer

    def refused(self, error: Exception) -> None:
        """It was not asked."""
        if self._placed and self.gate.places is not None:
            self.gate.places.give_back(None)
        reason = "spilled" if isinstance(error, SpilledError) else type(error).__name__
        self._tell("refused", reason, self.gate.clock(), None)

    def ended(self, error: BaseException | None) -> None:
        """It was asked, and it is over."""
        gate, now = self.gate, self.gate.clock()
        if self._placed and gate.places is not None:
            learned = (self._first_at if self._first_at is not None else now) - self._began_at
            outage = error is not None and is_outage(error)
            gate.places.give_back(learned if error is None else None, waited=self._waited, failed=outage)
        if isinstance(self.entered, Entered):
            gate.leave(self.entered, error)
        if self.entered is None:  # it went away while it waited
            self._tell("cancelled", None, now, None)
            return
        passing = error is not None and is_signal(error)
        went = error is not None and not isinstance(error, Exception)
        failed = error is not None and not passing and not went
        cost = self._charge(now, error, went=went)
        outcome = "failed" if failed else "cancelled" if went else "degraded" if gate.degraded else "answered"
        self._tell(outcome, type(error).__name__ if failed else None, now, cost)
        if error is None or passing:
            self._call.component, self._call.degraded = gate.name, gate.degraded
        pipeline = current_pipeline.get()
        if pipeline is not None:
            pipeline.add(degraded=gate.degraded and not failed, failed=failed, cost=cost)

    @property
    def _waited(self) -> float:
        return max(0.0, self._began_at - self._asked_at)

    def _charge(self, now: float, error: BaseException | None, *, went: bool) -> Decimal | None:
        gate = self.gate
        if gate.price is None:
            return None
        # Providers bill what they began to answer: not an error, but a stream that broke, and a caller that went away.
        began = error is None or went or self._first_at is not None
        used = self._meter.used(now - self._began_at if began else 0.0, began=began)
        return gate.account.charge(
            gate.gateway,
            gate.name,
            charges(used, gate.price),
            wasted=error is not None,
            early=self._call.speculative,
            speculation=speculation_id.get(),
        )

    def _tell(self, outcome: str, reason: str | None, now: float, cost: Decimal | None) -> None:
        gate, call = self.gate, self._call
        gate.events(
            ComponentCalled(
                at=now,
                gateway=gate.gateway,
                component=gate.name,
                outcome=outcome,
                seconds=max(0.0, now - self._asked_at),
                waited_seconds=self._waited,
                first_token_seconds=None if self._first_at is None else self._first_at - self._asked_at,
                pipeline=call.pipeline,
                variant=call.variant,
                spilled=gate.spilled,
                speculative=call.speculative,
                reason=reason,
                cost=None if cost is None else shown(cost),
            )
        )
