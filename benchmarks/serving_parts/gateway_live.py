"""The gateway on a real local process whose calls fan out, and what calls of every kind cost."""

from __future__ import annotations

import asyncio
import time
from decimal import Decimal
from statistics import median
from typing import Any

from langchain_core.runnables import RunnableLambda

from benchmarks.serving_parts.served import Served, client
from langgraph_prefetch.events import ComponentCalled, Event, Fate, PipelineEnded, SpeculationEnded
from langgraph_prefetch.serving.gateway import Account, CallPrice, LimitRule, gateway, pipeline
from langgraph_prefetch.speculative import speculating, speculation_id
from langgraph_prefetch.values import Source


async def fan_out(width: int, rounds: int, service: float) -> dict[str, Any]:
    """``width`` calls at once, bare and through gateways, in turn; and what one call costs in processor time."""
    served = Served("judge", service)
    try:
        await asyncio.to_thread(served.process.warm)
        async with client() as http:
            bare = served.asked_by(http)
            gated = gateway(bare, name="judge", fallback=bare, limit=LimitRule(), price=CallPrice(per_call=Decimal(1)))
            took: dict[str, list[float]] = {"bare": [], "gated": []}
            spent: dict[str, float] = {"bare": 0.0, "gated": 0.0}
            for turn in range(rounds + 1):
                for name, component in (("bare", bare), ("gated", gated)):
                    began, used = time.perf_counter(), time.process_time()
                    await asyncio.gather(*(component.ainvoke("?") for _ in range(width)))
                    if turn:  # the first one opens the connections
                        took[name].append(time.perf_counter() - began)
                        spent[name] += time.process_time() - used
    finally:
        await asyncio.to_thread(served.process.cool)
    differences = [gated / bare - 1 for gated, bare in zip(took["gated"], took["bare"], strict=True)]
    return {
        "width": width,
        "bare": median(took["bare"]),
        "gated": median(took["gated"]),
        "overhead": median(differences),
        "processor_seconds_per_call": (spent["gated"] - spent["bare"]) / rounds / width,
    }


async def costs(requests: int) -> dict[str, Any]:
    """Costs of pipelines with answers, stand-ins, failures and early calls: three ways to add them up."""
    account, events = Account(), list[Event]()
    attempts = iter(range(10**9))

    async def flaky(given: object) -> str:
        if next(attempts) % 7 == 0:
            raise ConnectionError("down")
        return "ok"

    price, cheap = CallPrice(per_call=Decimal("0.0123456789")), CallPrice(per_call=Decimal("0.000000123"))
    gated = gateway(
        RunnableLambda(flaky),
        name="flaky",
        fallback=lambda given: "small",
        price=price,
        fallback_price=cheap,
        breaker=None,
        account=account,
        events=events.append,
    )
    of_pipelines = Decimal(0)
    for number in range(requests):
        with pipeline("answer", events.append) as request:
            await asyncio.gather(*(gated.ainvoke("?") for _ in range(3)))
            token, other = speculating.set(True), speculation_id.set(f"s{number}")
            await asyncio.gather(gated.ainvoke("?"), return_exceptions=True)
            speculation_id.reset(other)
            speculating.reset(token)
        account(_ended(f"s{number}", served=number % 3 != 0))
        assert request.cost is not None
        of_pipelines += request.cost
    statement = account.statement()
    of_events = sum((Decimal(e.cost) for e in events if isinstance(e, ComponentCalled) and e.cost), Decimal(0))
    told = sum((Decimal(e.cost) for e in events if isinstance(e, PipelineEnded) and e.cost), Decimal(0))
    return {
        "lines": [
            (line.component, line.what, str(line.fruit), str(line.quantity), str(line.amount))
            for line in statement.lines
        ],
        "account": str(statement.total),
        "equal": statement.total == of_pipelines == of_events == told,
    }


def _ended(speculation: str, *, served: bool) -> SpeculationEnded:
    """What the agent's events would say of it."""
    return SpeculationEnded(
        run_id="r",
        step=1,
        at=0.0,
        speculation_id=speculation,
        tool="flaky",
        source=Source.REASONING,
        fate=Fate.SERVED if served else Fate.WASTED,
        reason="",
    )
