"""What verified serving would add to exact answers: the next model call begins while a search still runs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace

from langgraph_prefetch.config import NextCalls, Price
from langgraph_prefetch.evaluation.advice.figures import ModeFigures, Prices, RunCount, mode_figures, net_of
from langgraph_prefetch.evaluation.advice.play import Scenario
from langgraph_prefetch.evaluation.advice.rates import per_call
from langgraph_prefetch.evaluation.advice.recordings import places_of, recording_of
from langgraph_prefetch.evaluation.advice.schedule import schedule, tokens_in
from langgraph_prefetch.evaluation.advice.tools import ToolFacts
from langgraph_prefetch.evaluation.advice.values import VERIFIED
from langgraph_prefetch.evaluation.importers.values import TracedRun
from langgraph_prefetch.evaluation.settings import ReplaySettings
from langgraph_prefetch.evaluation.verified.figures import Tried
from langgraph_prefetch.evaluation.verified.replay import VerifiedReplay, replay_verified
from langgraph_prefetch.intent.cues import CueSet


def verified_mode(
    runs: Sequence[TracedRun],
    tool: ToolFacts,
    exact: Sequence[RunCount],
    *,
    scenario: Scenario,
    prices: Prices,
    cues: CueSet,
) -> ModeFigures:
    """Replay the next model calls.

    Calls that were made side by side are not replayed here, and count as if no next call had begun.

    Args:
        runs: what was traced.
        tool: whose calls are looked at.
        exact: what exact answers alone hide in each run.
        scenario: the tools that may run early, and what is assumed.
        prices: of calls, seconds and tokens.
        cues: the language of intent.
    """
    if not tool.results:
        return ModeFigures(mode=VERIFIED, why_not="the traces do not hold what the tool returned")
    recording = recording_of(runs, "traces", apart=False)
    if not places_of(recording, (tool.name,)):
        return ModeFigures(mode=VERIFIED, why_not="all its calls are made side by side, which is not replayed")
    settings = _settings(runs, tool, scenario, prices)
    token = max(prices.token_read, prices.token_written)
    rules = NextCalls(token_price=Price(money=token)) if token and prices.unit else NextCalls()
    tried = replay_verified([recording], settings, VerifiedReplay(rules=rules), cues=cues)
    by_run: dict[int, list[Tried]] = {}
    for (run, name), each in zip(places_of(recording, settings.tools), tried, strict=True):
        if name == tool.name:
            by_run.setdefault(run, []).append(each)
    return _figures(exact, by_run, prices)


def _settings(runs: Sequence[TracedRun], tool: ToolFacts, scenario: Scenario, prices: Prices) -> ReplaySettings:
    """The nearest that an even replay comes to these runs: the median of the speeds, the typical search."""
    speeds = []
    for step in (step for run in runs for step in run.steps):
        tokens, end = sum(map(tokens_in, step.deltas)), schedule(step, scenario.tokens_per_second).end
        if tokens and end > 0:
            speeds.append((tokens + 1) / end)
    return ReplaySettings(
        tools=(tool.name, *(each.name for each in scenario.tools if each.name != tool.name)),
        tokens_per_second=statistics.median(speeds) if speeds else scenario.tokens_per_second,
        latency_seconds=tool.typical_seconds,
        graph_step_seconds=scenario.graph_step_seconds,
        value_of_second=prices.second,
    )


def _figures(exact: Sequence[RunCount], by_run: Mapping[int, Sequence[Tried]], prices: Prices) -> ModeFigures:
    counts: list[RunCount] = []
    nets: list[tuple[float, float]] = []
    for number, count in enumerate(exact):
        tried = by_run.get(number, ())
        added = min(math.fsum(each.hidden for each in tried), count.waited)
        served = min(count.calls, count.served + sum(each.adopted for each in tried))
        counts.append(replace(count, hidden=count.hidden + added, waited=count.waited - added, served=served))
        tokens = sum(each.read * prices.token_read + each.written * prices.token_written for each in tried)
        nets.append((net_of(counts[-1], prices) - tokens, count.calls))
    every = [each for tried in by_run.values() for each in tried]
    cancelled = sum(each.started and not each.adopted for each in every)
    wasted = f"{sum(each.read for each in every):,} tokens read, {sum(each.written for each in every):,} written"
    calls = sum(each.calls for each in exact) or 1
    note = f"{100 * cancelled / calls:.1f} cancelled model calls for each 100 ({wasted})"
    priced = "" if prices.token_read or prices.token_written else "; tokens have no price here (--prices, --model)"
    return replace(mode_figures(VERIFIED, counts, prices), net=per_call(nets), note=note + priced)
