"""The gateway on real local processes: one is killed under load, calls fan out, sessions run beside each other."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from decimal import Decimal
from statistics import median
from typing import Any

from langchain_core.runnables import RunnableLambda

from benchmarks.serving_parts.served import Served, client
from langgraph_prefetch.events import ComponentCalled, Event, Fate, PipelineEnded, SpeculationEnded
from langgraph_prefetch.serving.gateway import Account, BreakerRule, CallPrice, LimitRule, gateway, pipeline
from langgraph_prefetch.speculative import speculating, speculation_id
from langgraph_prefetch.values import Source

OPEN_SECONDS = 2.0
RATE = 50.0


def p95(values: list[float]) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))] if ordered else float("nan")


async def outage(seconds: float, seed: int) -> dict[str, Any]:
    """50 requests a second; the component's process is killed, and started again."""
    large, small = Served("large", 0.08), Served("small", 0.04)
    log: list[ComponentCalled] = []
    asked: list[tuple[float, float, bool]] = []

    def told(event: Event) -> None:
        if isinstance(event, ComponentCalled):
            log.append(event)

    try:
        await asyncio.gather(*(asyncio.to_thread(each.process.warm) for each in (large, small)))
        async with client() as http:
            gated = gateway(
                large.asked_by(http),
                name="large",
                fallback=small.asked_by(http),
                limit=LimitRule(initial=64),
                breaker=BreakerRule(failures=3, open_seconds=OPEN_SECONDS),
                events=told,
            )
            await gated.ainvoke("?")

            async def one() -> None:
                began = time.monotonic()
                try:
                    await gated.ainvoke("?")
                except Exception:  # noqa: BLE001 - counted
                    asked.append((began, time.monotonic() - began, False))
                else:
                    asked.append((began, time.monotonic() - began, True))

            async def load(until: float) -> None:
                draw, at, tasks = random.Random(seed), time.monotonic(), []
                while at < until:
                    at += draw.expovariate(RATE)
                    await asyncio.sleep(max(0.0, at - time.monotonic()))
                    tasks.append(asyncio.ensure_future(one()))
                await asyncio.gather(*tasks)

            start = time.monotonic()
            running = asyncio.ensure_future(load(start + 3 * seconds))
            await asyncio.sleep(seconds)
            killed = time.monotonic()
            assert large.process.pid is not None
            os.kill(large.process.pid, signal.SIGKILL)
            await asyncio.sleep(seconds)
            await asyncio.to_thread(large.process.warm)
            back = time.monotonic()
            await running
    finally:
        for each in (large, small):
            await asyncio.to_thread(each.process.cool)
    first = min((e.at for e in log if e.outcome == "answered" and e.at > back), default=float("inf"))
    healthy = [took for at, took, _ in asked if at < killed - 0.2]
    out = [(took, good) for at, took, good in asked if killed - 0.1 <= at < back]
    return {
        "requests": len(asked),
        "in_outage": len(out),
        "answered_share": sum(good for _, good in out) / len(out),
        "degraded_in_outage": sum(e.outcome == "degraded" for e in log if killed <= e.at < back),
        "healthy_p95": p95(healthy),
        "outage_p95": p95([took for took, _ in out]),
        "recovery_seconds": first - back,
    }


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


async def sessions(counts: tuple[int, ...], calls: int, service: float) -> list[dict[str, Any]]:
    """So many sessions beside each other, each of so many calls in turn."""
    served = Served("step", service)
    found = []
    try:
        await asyncio.to_thread(served.process.warm)
        async with client() as http:
            bare = served.asked_by(http)
            gated = gateway(bare, name="step", limit=LimitRule(initial=64))

            async def session(component: Any) -> None:
                for _ in range(calls):
                    await component.ainvoke("?")

            await asyncio.gather(*(gated.ainvoke("?") for _ in range(max(counts))))
            for count in counts:
                rates = {}
                for name, component in (("bare", bare), ("throughput", gated)):
                    began = time.perf_counter()
                    await asyncio.gather(*(session(component) for _ in range(count)))
                    rates[name] = count * calls / (time.perf_counter() - began)
                found.append({"sessions": count, **rates})
    finally:
        await asyncio.to_thread(served.process.cool)
    return found


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
