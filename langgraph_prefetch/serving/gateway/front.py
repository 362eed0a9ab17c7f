"""The way in: a component of LangChain's with a gateway before it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeVar, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.events import EventHub, EventSink
from langgraph_prefetch.experiments import Experiment, Key
from langgraph_prefetch.live_variants import LiveVariants
from langgraph_prefetch.ports import Clock
from langgraph_prefetch.serving.gateway._extras import BreakerRule
from langgraph_prefetch.serving.gateway.accounts import Account
from langgraph_prefetch.serving.gateway.calls import After, Before
from langgraph_prefetch.serving.gateway.core import Gateway
from langgraph_prefetch.serving.gateway.gate import Gate, Warmth
from langgraph_prefetch.serving.gateway.kinds import gated
from langgraph_prefetch.serving.gateway.limit import LimitRule
from langgraph_prefetch.serving.gateway.prices import CallPrice, PerCall, PerToken
from langgraph_prefetch.serving.gateway.spilling import SpillRule

Component = TypeVar("Component", bound=Runnable[Any, Any])
AnyPrice = CallPrice | PerToken | PerCall | Decimal | float
KINDS: tuple[type[Runnable[Any, Any]], ...] = (BaseChatModel, BaseRetriever, BaseTool)
DEFAULT = "default"
"""The variant that is the gateway's own component."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantSplit:
    """Other components that take some of the calls.

    Attributes:
        name: of the experiment; the same name deals out the same keys alike.
        variants: by name; the gateway's own component is the variant ``default``.
        weights: of each, ``default`` included, in any unit; equal ones if None.
        key: a name under ``configurable``, or a function of it, that tells whose call it is.
        prices: by name; those that are left out have the gateway's own price.
    """

    name: str
    variants: Mapping[str, Runnable[Any, Any]] = field(hash=False)
    weights: Mapping[str, float] | None = field(default=None, hash=False)
    key: Key = "thread_id"
    prices: Mapping[str, AnyPrice] = field(default_factory=dict, hash=False)


def gateway(
    component: Component,
    *,
    name: str | None = None,
    fallback: Runnable[Any, Any] | Callable[[Any], Any] | None = None,
    limit: LimitRule | int | None = None,
    spill_to: Runnable[Any, Any] | None = None,
    spill: SpillRule | None = None,
    variants: VariantSplit | None = None,
    price: AnyPrice | None = None,
    fallback_price: AnyPrice | None = None,
    spill_price: AnyPrice | None = None,
    breaker: BreakerRule | None = BreakerRule(),  # noqa: B008 - frozen
    warm: Warmth | None = None,
    attempts: int = 1,
    before: Sequence[Before] = (),
    after: Sequence[After] = (),
    account: Account | None = None,
    events: EventSink | None = None,
    clock: Clock = time.monotonic,
) -> Component:
    """The same component, which keeps within its limit, is left alone while it is down, and is stood in for.

    ::

        model = gateway(large, fallback=small, limit=LimitRule(), price=prices.model("large"))
        agent = create_agent(model, [gateway(search, fallback=lambda query: "search is down; say so")])

    A chat model stays a chat model, with tools, structured output and streaming; a retriever a retriever, a tool a
    tool; anything else is a runnable. Its ``.gateway`` tells and changes its state.

    Calls go to the component; those that it has no place for, or does not answer, to ``spill_to``; and what that does
    not answer either to ``fallback``, whose answers are marked ``degraded``. LangChain's own retry and fallbacks carry
    that out, so a stream of which something has been handed on is not begun again: it ends with its error. Early calls
    (`is_speculative`) get what places are left and are refused rather than kept waiting, and have neither spill nor
    fallback. The component's client should not retry by itself (``max_retries=0``), and must have a time-out: a
    component that hangs is one that has not failed yet.

    Args:
        component: a chat model, retriever, tool or any other runnable, on Bedrock or behind any URL (`engine`).
        name: as events show it; the component's own if None.
        fallback: stands in: a component of the same kind, or a function of the input (of a tool: of its arguments).
        limit: calls at once: learned within a `LimitRule`, or a fixed number; None: any number, which with ``spill_to``
            means a `LimitRule` with its defaults.
        spill_to: a serverless component of the same kind; its answers are as good.
        spill: when calls are spilled.
        variants: components that take some of the calls, each with a breaker and a limit of its own; swapped live with
            ``.gateway.swap``.
        price: of the component: for each call, or a `CallPrice`, or a model's or search's price of a price file.
        fallback_price: of ``fallback``.
        spill_price: of ``spill_to``.
        breaker: when the component is left alone; None: never. ``spill_to`` has one by the same rule.
        warm: waits until the component is warm: ``warmer.of(name)``.
        attempts: how often the component is called before it counts as failed once, with LangChain's pauses between;
            requests that it refuses are not repeated, nor are streams.
        before: hooks that see, and may replace, the input.
        after: hooks that see, and may replace, the answer.
        account: where costs add up; one of its own if None.
        events: takes `ComponentCalled` and `BreakerMoved`.
        clock: seconds.

    Raises:
        ConfigurationError: parts of different kinds, or a value out of its range.
    """
    if attempts < 1:
        raise ConfigurationError(f"attempts starts at 1, not {attempts}")
    if spill is not None and spill_to is None:
        raise ConfigurationError("spill says when calls go to spill_to, which is missing")
    kind = _kind_of(component)
    own = name or getattr(component, "name", None) or type(component).__name__
    rule = LimitRule.fixed(limit) if isinstance(limit, int) else limit
    if rule is None and spill_to is not None:
        rule = LimitRule()
    hub, shared = EventHub(), account or Account()
    if events is not None:
        hub.subscribe(events)
    prices = {DEFAULT: price} if variants is None else {DEFAULT: price, **variants.prices}

    def gate(called: str, what: Any, paid: AnyPrice | None, **more: Any) -> Gate:
        cost = None if paid is None else CallPrice.of(paid)
        return Gate(called, what, gateway=own, price=cost, account=shared, events=hub, clock=clock, **more)

    def first(called: str, what: Any) -> Gate:
        _require(kind, called, what)
        spilling = None if spill_to is None else spill or SpillRule()
        shown = own if called == DEFAULT else called
        return gate(shown, what, prices.get(called, price), breaker=breaker, limit=rule, spill=spilling, warm=warm)

    gates = {DEFAULT: first(DEFAULT, component)}
    behind = []
    if variants is not None:
        gates |= {called: first(called, what) for called, what in variants.variants.items()}
    if spill_to is not None:
        _require(kind, "spill_to", spill_to)
        behind.append(gate("spill", spill_to, spill_price, breaker=breaker, limit=None, spilled=True))
    if fallback is not None:
        stand_in = fallback if isinstance(fallback, Runnable) else _from_function(component, fallback)
        if kind is BaseTool:  # only a tool makes of a tool call the message that a graph waits for
            _require(kind, "fallback", stand_in)
        behind.append(gate("fallback", stand_in, fallback_price, breaker=None, limit=None, degraded=True))
    live = None if variants is None else LiveVariants(_experiment(variants, gates), gates)
    core = Gateway(
        own,
        gates,
        behind,
        live=live,
        make=first,
        attempts=attempts,
        before=before,
        after=after,
        account=shared,
        events=hub,
        clock=clock,
    )
    return cast("Component", gated(component, core))


def _experiment(split: VariantSplit, gates: Mapping[str, Gate]) -> Experiment:
    weights = dict.fromkeys(gates, 1.0) if split.weights is None else dict(split.weights)
    return Experiment(name=split.name, weights=weights, key=split.key, default=DEFAULT)


def _kind_of(component: object) -> type[Runnable[Any, Any]]:
    if not isinstance(component, Runnable):
        raise ConfigurationError(
            f"a gateway stands before a chat model, retriever, tool or runnable of LangChain's, not "
            f"{type(component).__name__}"
        )
    return next((kind for kind in KINDS if isinstance(component, kind)), Runnable)


def _require(kind: type[Any], called: str, what: object) -> None:
    if not isinstance(what, kind):
        raise ConfigurationError(f"{called!r} is a {type(what).__name__}, and the component a {kind.__name__}")


def _from_function(component: Runnable[Any, Any], function: Callable[[Any], Any]) -> Runnable[Any, Any]:
    if not callable(function):
        raise ConfigurationError(f"fallback takes a component or a function, not {type(function).__name__}")
    if not isinstance(component, BaseTool):
        return RunnableLambda(function)

    def stand_in(**arguments: Any) -> Any:
        return function(arguments)

    return StructuredTool.from_function(
        func=stand_in,
        name=component.name,
        description=component.description,
        args_schema=component.args_schema,
        response_format=component.response_format,
    )
