"""From what happened in each run to the figures of one tool in one serve mode. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from langgraph_prefetch.evaluation.advice.rates import per_call, share
from langgraph_prefetch.evaluation.statistics.values import Estimate
from langgraph_prefetch.events import DRY_RUN, Event, SearchCallAnswered, SpeculationIgnored, SpeculationStarted
from langgraph_prefetch.values import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCount:
    """One tool in one run. ``extra`` are the backend's calls beyond those of the bare run; reuse makes them fewer."""

    calls: float = 0.0
    served: float = 0.0
    guessed: float = 0.0
    ready: float = 0.0
    hidden: float = 0.0
    waited: float = 0.0
    extra: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What a call costs and a second is worth, in one unit.

    Attributes:
        call: of one call of the tool.
        second: of one second that the agent does not wait.
        token_read, token_written: of a model's token, for private model calls that are cancelled.
        unit: such as ``USD``; empty where the prices are the assumed ones.
    """

    call: float
    second: float
    token_read: float = 0.0
    token_written: float = 0.0
    unit: str = ""


_UNKNOWN = Estimate(value=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeFigures:
    """One tool in one serve mode.

    Attributes:
        mode: its name.
        calls: search calls.
        coverage: served / calls; under verified serving the adopted model calls count too.
        guessed: calls served by a search that reasoning started / calls.
        ready: calls whose result was there when they came / calls.
        hidden: seconds hidden per call.
        waited: seconds that a call still waits, on average.
        extra: calls of the backend beyond those of the bare run, per call.
        net: per call: hidden seconds * value of a second - extra calls * price.
        gain: by how much ``net`` is above that of the mode it is compared with; None where it is the first.
        sources: share of the calls that each source served.
        why_not: why this mode could not be measured; then all else is empty.
        note: what a reader has to know.
    """

    mode: str
    calls: int = 0
    coverage: Estimate = _UNKNOWN
    guessed: Estimate = _UNKNOWN
    ready: float = 0.0
    hidden: Estimate = _UNKNOWN
    waited: float = 0.0
    extra: Estimate = _UNKNOWN
    net: Estimate = _UNKNOWN
    gain: Estimate | None = None
    sources: Mapping[str, float] | None = None
    why_not: str = ""
    note: str = ""


def counts_of(runs: Iterable[Sequence[Event]], tool: str) -> tuple[RunCount, ...]:
    """What became of the calls of ``tool`` in each run. In a dry run, what would have."""
    return tuple(_count([each for each in events if getattr(each, "tool", None) == tool]) for events in runs)


def sources_of(runs: Iterable[Sequence[Event]], tool: str) -> Mapping[str, float]:
    """The share of the calls of ``tool`` that each source served."""
    answers = [each for events in runs for each in events if isinstance(each, SearchCallAnswered) and each.tool == tool]
    counted = Counter(str(each.source) for each in answers if each.source is not None)
    return {source: count / len(answers) for source, count in counted.most_common()} if answers else {}


def mode_figures(
    mode: str,
    runs: Sequence[RunCount],
    prices: Prices,
    *,
    before: Sequence[RunCount] | None = None,
    sources: Mapping[str, float] | None = None,
    note: str = "",
) -> ModeFigures:
    """Put the figures together; ``before`` are the same runs in the mode that this one is compared with."""
    calls = math.fsum(each.calls for each in runs)
    return ModeFigures(
        mode=mode,
        calls=round(calls),
        coverage=share([(each.served, each.calls) for each in runs]),
        guessed=share([(each.guessed, each.calls) for each in runs]),
        ready=math.fsum(each.ready for each in runs) / calls if calls else 0.0,
        hidden=per_call([(each.hidden, each.calls) for each in runs]),
        waited=math.fsum(each.waited for each in runs) / calls if calls else 0.0,
        extra=per_call([(each.extra, each.calls) for each in runs]),
        net=per_call([(net_of(each, prices), each.calls) for each in runs]),
        gain=None if before is None else gain_over(before, runs, prices),
        sources=sources,
        note=note,
    )


def net_of(count: RunCount, prices: Prices) -> float:
    """What one run brought, less what it cost."""
    return count.hidden * prices.second - count.extra * prices.call


def gain_over(before: Sequence[RunCount], after: Sequence[RunCount], prices: Prices) -> Estimate:
    """How much more each call brings, run by run."""
    pairs = zip(before, after, strict=True)
    return per_call([(net_of(late, prices) - net_of(early, prices), late.calls) for early, late in pairs])


def _count(events: Sequence[Event]) -> RunCount:
    answers = [each for each in events if isinstance(each, SearchCallAnswered)]
    started = sum(isinstance(each, SpeculationStarted) for each in events)
    started += sum(isinstance(each, SpeculationIgnored) and each.reason == DRY_RUN for each in events)
    served = [each for each in answers if each.source is not None or each.forgone == DRY_RUN]
    hidden = math.fsum(each.hidden_seconds + _forgone(each) for each in answers)
    return RunCount(
        calls=len(answers),
        served=len(served),
        guessed=sum(each.source is Source.REASONING for each in answers),
        ready=sum(not each.late for each in served),
        hidden=hidden,
        waited=math.fsum(each.waited_seconds - _forgone(each) for each in answers),
        extra=started - len(served),
    )


def _forgone(answer: SearchCallAnswered) -> float:
    return (answer.forgone_seconds or 0.0) if answer.forgone == DRY_RUN else 0.0
