"""The gateway: a component killed under load, fan-out, sessions, bursts, spilling, costs.

Beside each figure stands the one of a production study of compound systems (arXiv 2604.25724), where it has one: its
components are large models in a cloud, ours are small processes on this machine, and what is simulated says so.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from statistics import median
from typing import Any

from benchmarks.serving_parts.gateway_live import costs, fan_out
from benchmarks.serving_parts.gateway_load import OPEN_SECONDS, outage, sessions
from benchmarks.serving_parts.gateway_simulated import BRANCH, SERVERLESS_FACTOR, burst, spill
from benchmarks.serving_parts.part import Check, Part, Table


def run(*, short: bool = False, seed: int = 1) -> Part:
    """All of it; about six minutes, or two if ``short``."""
    figures: dict[str, Any] = {
        "outage": asyncio.run(outage(2 if short else 5, 4.0 if short else 8.0, seed)),
        "fan_out": [asyncio.run(fan_out(width, 20 if short else 60, 0.5)) for width in (3, 5)],
        "sessions": asyncio.run(sessions((1, 10, 25, 50), 8, 0.5, 1 if short else 3)),
        "burst": burst(600 if short else 1_800, seed),
        "spill": spill(1_200 if short else 3_600, seed),
        "costs": asyncio.run(costs(50 if short else 500)),
    }
    told = [_outage(figures["outage"]), _fan_out(figures["fan_out"]), _sessions(figures["sessions"])]
    told += [_burst(figures["burst"]), _spill(figures["spill"]), _costs(figures["costs"])]
    figures["spill"] = {
        name: asdict(value) if name in ("static", "hybrid") else value for name, value in figures["spill"].items()
    }
    return Part(
        name="gateway",
        tables=[table for table, _ in told],
        checks=[check for _, checks in told for check in checks],
        figures=figures,
    )


Told = tuple[Table, list[Check]]


def _outage(found: dict[str, Any]) -> Told:
    ratio = found["ratio"]
    table = Table(
        caption="A component's process killed at 50 requests a second, again and again (live, five local processes)",
        head=("", "ours", "published"),
        rows=(
            ("answered while it is down", f"{found['answered_share']:.2%} of {found['in_outage']}", "no figure"),
            ("p95 healthy", f"{1_000 * median(found['healthy_p95']):.0f} ms", "no figure"),
            ("p95 while it is down", f"{1_000 * median(found['outage_p95']):.0f} ms", "no figure"),
            ("recovery after it is back, at most", f"{found['recovery_seconds']:.2f} s", "no figure"),
        ),
        note=f"Component and stand-in 80 ms each, by their own clocks; open time of the breaker {OPEN_SECONDS:.0f} s. "
        f"Medians of {len(found['healthy_p95'])} windows of each kind that take turns. Requests come whether or not "
        "earlier ones are answered, from a process of its own, and are timed from when they were due.",
    )
    return table, [
        Check(
            what="answered while killed",
            measured=f"{found['answered_share']:.2%}",
            wanted=">= 99 %",
            kept=found["answered_share"] >= 0.99,
        ),
        Check(
            what="p95 while killed", measured=f"{ratio:.2f} x healthy (median)", wanted="<= 1.10 x", kept=ratio <= 1.1
        ),
        Check(
            what="recovery",
            measured=f"{found['recovery_seconds']:.2f} s",
            wanted=f"<= {OPEN_SECONDS + 1:.0f} s",
            kept=found["recovery_seconds"] <= OPEN_SECONDS + 1,
        ),
    ]


def _fan_out(found: list[dict[str, Any]]) -> Told:
    rows = tuple(
        (
            f"{each['width']} calls at once",
            f"{1_000 * each['bare']:.1f} ms",
            f"{1_000 * each['gated']:.1f} ms",
            f"{each['overhead']:+.2%}",
            f"{1_000 * each['processor_seconds_per_call']:.2f} ms",
        )
        for each in found
    )
    table = Table(
        caption="Fan-out of calls of 500 ms (live, one local process)",
        head=("", "bare", "gateway", "overhead", "processor time a call"),
        rows=rows,
        note="Medians of rounds that take turns.",
    )
    worst = max(each["overhead"] for each in found)
    return table, [Check(what="fan-out of 3 to 5 calls", measured=f"{worst:+.2%}", wanted="< 2 %", kept=worst < 0.02)]


def _sessions(found: list[dict[str, Any]]) -> Told:
    alone = {name: found[0][name] / found[0]["sessions"] for name in ("bare", "gated")}

    def linear(each: dict[str, Any], name: str) -> float:
        share: float = each[name] / alone[name] / each["sessions"]
        return share

    rows = tuple(
        (
            f"{each['sessions']} sessions",
            f"{each['bare']:.1f} calls/s",
            f"{linear(each, 'bare'):.1%}",
            f"{each['gated']:.1f} calls/s",
            f"{linear(each, 'gated'):.1%}",
            f"{1_000 * each['bare_processor_seconds_per_call']:.2f} ms",
            f"{1_000 * each['gated_processor_seconds_per_call']:.2f} ms",
        )
        for each in found
    )
    share = linear(found[-1], "gated")
    head = ("", "bare", "of linear", "gateway", "of linear", "processor time a call, bare", "gateway")
    table = Table(
        caption="Sessions beside each other, calls of 500 ms (live, three local processes)",
        head=head,
        rows=rows,
        note="Bare and gateway take turns; the load comes from a process of its own. Published: up to 3.9 x throughput "
        "against static deployments, which is another comparison.",
    )
    return table, [Check(what="50 sessions", measured=f"{share:.1%} of linear", wanted=">= 90 %", kept=share >= 0.9)]


def _burst(found: dict[str, Any]) -> Told:
    rows = tuple(
        (
            name,
            str(each["requests"]),
            f"{each['p95']:.2f} s",
            f"{each['verify_mean']:.1f}",
            str(each["verify_peak"]),
        )
        for name, each in found.items()
    )
    ratio = found["per component"]["p95"] / found["steady"]["p95"]
    fewer = found["by requests"]["verify_mean"] / found["per component"]["verify_mean"]
    table = Table(
        caption=f"Bursts of ten times the rate, {BRANCH:.0%} of requests on a conditional branch (simulated)",
        head=("", "requests", "p95", "conditional replicas", "at most"),
        rows=rows,
        note="Published: P95 more than halved against static deployments, no figure for conditional replicas.",
    )
    return table, [
        Check(what="p95 in bursts", measured=f"{ratio:.2f} x steady", wanted="<= 1.5 x", kept=ratio <= 1.5),
        Check(what="conditional replicas", measured=f"{fewer:.1f} x fewer", wanted=">= 3 x fewer", kept=fewer >= 3),
    ]


def _spill(found: dict[str, Any]) -> Told:
    rows = tuple(
        (name, str(each.dedicated), f"{each.p95:.2f} s", f"{each.spilled:.1%}", f"{each.cost_per_hour:.2f}")
        for name, each in (("static, for the peak", found["static"]), ("dedicated and spill", found["hybrid"]))
    )
    table = Table(
        caption="Dedicated first, serverless above a threshold (simulated)",
        head=("", "dedicated", "p95", "spilled", "cost an hour"),
        rows=rows,
        note=f"A busy serverless second costs {SERVERLESS_FACTOR} dedicated ones (stated). Published: 30-40 % saved.",
    )
    saving, no_worse = found["saving"], found["hybrid"].p95 <= found["static"].p95
    return table, [
        Check(
            what="cost of spilling at equal p95",
            measured=f"-{saving:.0%}",
            wanted="-30 %",
            kept=saving >= 0.3 and no_worse,
        )
    ]


def _costs(found: dict[str, Any]) -> Told:
    table = Table(
        caption="Costs of pipelines with stand-ins, failures and early calls (live)",
        head=("component", "what", "fruit", "quantity", "amount"),
        rows=(*(tuple(line) for line in found["lines"]), ("sum", "", "", "", found["account"])),
    )
    return table, [
        Check(
            what="account = pipelines = events",
            measured="equal" if found["equal"] else "differ",
            wanted="equal to the last digit",
            kept=found["equal"],
        )
    ]
