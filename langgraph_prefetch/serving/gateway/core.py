"""What every kind of gateway does: choose a variant, run the hooks, ask one component after the other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.events import EventHub, EventSink
from langgraph_prefetch.handing import Change
from langgraph_prefetch.live_variants import LiveVariants, pinned
from langgraph_prefetch.ports import Clock
from langgraph_prefetch.serving.gateway.accounts import Account
from langgraph_prefetch.serving.gateway.calls import After, Before, Call, current_pipeline
from langgraph_prefetch.serving.gateway.gate import Gate
from langgraph_prefetch.serving.gateway.outages import PassingError
from langgraph_prefetch.serving.gateway.steps import AnyRunnable, chained
from langgraph_prefetch.speculative import is_speculative


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentState:
    """One component, as things stand.

    Attributes:
        name: of it.
        breaker: ``closed``, ``opened`` or ``half-opened``.
        in_flight, waiting: calls that have a place, and that wait for one; 0 where there is no limit.
        limit: calls at once; None: any number.
        spilling: calls that find no place go elsewhere.
    """

    name: str
    breaker: str
    in_flight: int
    waiting: int
    limit: int | None
    spilling: bool


class Gateway:
    """The part that all kinds share; ``.gateway`` of what :func:`~langgraph_prefetch.serving.gateway.gateway` returns.

    Args:
        name: as events show it.
        gates: the dedicated component, or its variants by name.
        behind: the components that are asked when it does not answer, in order.
        live: the variants; None: there is one component.
        make: a gate for a variant that is swapped in.
        attempts: of a call of the first component.
        before, after: hooks.
        account, events, clock: shared with the gates.
    """

    def __init__(
        self,
        name: str,
        gates: Mapping[str, Gate],
        behind: Sequence[Gate],
        *,
        live: LiveVariants[Gate] | None,
        make: Callable[[str, Any], Gate],
        attempts: int,
        before: Sequence[Before],
        after: Sequence[After],
        account: Account,
        events: EventHub,
        clock: Clock,
    ) -> None:
        self.name, self.account, self.events = name, account, events
        self._only = next(iter(gates.values()))
        self._behind, self._live, self._make = tuple(behind), live, make
        self._attempts, self._before, self._after, self._clock = attempts, tuple(before), tuple(after), clock

    def subscribe(self, sink: EventSink) -> Callable[[], None]:
        """Send `ComponentCalled` and `BreakerMoved` to ``sink``; the returned function stops that."""
        return self.events.subscribe(sink)

    def components(self) -> tuple[ComponentState, ...]:
        """Every component, in the order in which they are asked, as things stand."""
        return tuple(
            ComponentState(
                name=gate.name,
                breaker=gate.state,
                in_flight=gate.places.in_flight if gate.places else 0,
                waiting=gate.places.waiting if gate.places else 0,
                limit=gate.places.limit if gate.places else None,
                spilling=gate.places.spilling if gate.places else False,
            )
            for gate in (*self._first, *self._behind)
        )

    def behind(self) -> tuple[Any, ...]:
        """The components that calls are meant for: the dedicated one, or its variants as things stand."""
        return tuple(gate.component for gate in self._first)

    def meant_for(self, config: RunnableConfig | None) -> tuple[Any, str | None]:
        """The component that a call is meant for, and its name where there are variants."""
        gate, variant = self._chosen(config)
        return gate.component, variant

    def swap(self, variants: Mapping[str, Any] | None = None, *, weights: Mapping[str, float] | None = None) -> None:
        """Replace variants, weights or both, for the calls that begin from now on. Those under way end as they began.

        Raises:
            ConfigurationError: the gateway has no variants; one of another kind; a weight without a component.
        """
        if self._live is None:
            raise ConfigurationError(f"gateway {self.name!r} has no variants: make it with variants=VariantSplit(…)")
        self._live.swap({name: self._make(name, each) for name, each in (variants or {}).items()}, weights=weights)

    def invoke(self, given: Any, config: RunnableConfig | None, change: Change | None = None, **kwargs: Any) -> Any:
        """Call whichever component answers."""
        with self._calling(given, config, change) as (call, given, chain):
            return self._answered(call, chain.invoke(given, config, **kwargs))

    async def ainvoke(
        self, given: Any, config: RunnableConfig | None, change: Change | None = None, **kwargs: Any
    ) -> Any:
        """Call whichever component answers."""
        with self._calling(given, config, change) as (call, given, chain):
            return self._answered(call, await chain.ainvoke(given, config, **kwargs))

    def stream(
        self, given: Any, config: RunnableConfig | None, change: Change | None = None, **kwargs: Any
    ) -> Iterator[Any]:
        """Stream from whichever component begins to answer."""
        with self._calling(given, config, change) as (call, given, chain):
            yield from chain.stream(given, config, **kwargs)
            self._answered(call, None)

    async def astream(
        self, given: Any, config: RunnableConfig | None, change: Change | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        """Stream from whichever component begins to answer."""
        with self._calling(given, config, change) as (call, given, chain):
            async for part in chain.astream(given, config, **kwargs):
                yield part
            self._answered(call, None)

    @contextmanager
    def _calling(
        self, given: Any, config: RunnableConfig | None, change: Change | None
    ) -> Iterator[tuple[Call, Any, AnyRunnable]]:
        gate, variant = self._chosen(config)
        pipeline = current_pipeline.get()
        call = Call(
            gateway=self.name,
            began_at=self._clock(),
            speculative=is_speculative(),
            pipeline=None if pipeline is None else pipeline.name,
            variant=variant,
        )
        for hook in self._before:
            replaced = hook(call, given)
            given = given if replaced is None else replaced
        # An early call is tried once, where it was meant to go: an answer that is degraded is no answer to keep.
        gates = (gate,) if call.speculative else (gate, *self._behind)
        try:
            yield call, given, chained(gates, call, change, 1 if call.speculative else self._attempts)
        except PassingError as carried:
            raise carried.error from carried.error.__cause__

    def _answered(self, call: Call, answer: Any) -> Any:
        call.seconds = self._clock() - call.began_at
        for hook in self._after:
            replaced = hook(call, answer)
            answer = answer if replaced is None else replaced
        return answer

    @property
    def _first(self) -> list[Gate]:
        return [self._only] if self._live is None else list(self._live.table.components.values())

    def _chosen(self, config: RunnableConfig | None) -> tuple[Gate, str | None]:
        live = self._live
        if live is None:
            return self._only, None
        began_with = pinned.get()
        if began_with is not None and live in began_with.given:
            table, assignment = began_with.given[live]
        else:
            table = live.table
            own = config if config and "configurable" in config else var_child_runnable_config.get()
            assignment = table.experiment.assign((own or {}).get("configurable") or {})
        return table.components[assignment.variant], assignment.variant
