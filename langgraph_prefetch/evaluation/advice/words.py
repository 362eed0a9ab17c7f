"""Figures as they are read: the same cells in the terminal and in the report."""

from __future__ import annotations

from collections.abc import Iterable

from langgraph_prefetch.evaluation.advice.figures import ModeFigures, Prices
from langgraph_prefetch.evaluation.advice.quantities import count, duration
from langgraph_prefetch.evaluation.advice.readable import EARLY_SECONDS, Readability
from langgraph_prefetch.evaluation.advice.values import Advice, Advised, Verdict
from langgraph_prefetch.evaluation.statistics.values import Estimate

MODE_HEAD: tuple[str, ...] = ("serve mode", "coverage", "guessed", "ready", "hidden s", "waited s", "extra", "net")
LEGEND = (
    "figures are per call, with 95 % intervals that take calls of one run for alike; guessed: served by searches "
    "that reasoning started; extra: calls of the backend beyond those of the bare run, for each 100; net: what hidden "
    "seconds are worth less what extra calls cost"
)


def headline(advice: Advice) -> str:
    """The verdict in one line."""
    name = advice.tool
    match advice.verdict:
        case Verdict.RECOMMENDED:
            how = "" if advice.guess else ", from closed arguments alone"
            return f"{name}: turn it on{how}"
        case Verdict.NOT_WORTH_IT:
            return f"{name}: do not turn this on, it is not worth it"
        case Verdict.TOO_LITTLE_DATA:
            return f"{name}: do not turn this on yet, too little data"
        case Verdict.CANNOT_TELL:
            return f"{name}: do not turn this on unseen, cannot tell"


def about(advice: Advice) -> str:
    """The calls, and how long they take."""
    evidence = advice.evidence
    facts = evidence.facts
    timed = (
        "recorded"
        if facts.recorded == facts.calls
        else f"recorded for {facts.recorded:,}"
        if facts.recorded
        else "assumed"
    )
    seen = f"{count(facts.calls, 'call')} in {count(facts.runs, 'run')}"
    said = f"{seen}; a call takes {duration(facts.typical_seconds)} ({timed})"
    if evidence.run_seconds is not None:
        said += f", the agent {duration(evidence.run_seconds)} for each of them"
    return said


def readable_words(readable: Readability) -> str:
    """How early queries become readable."""
    low, first, middle, third, high = (f"{each:.2f}" for each in readable.seconds)
    return (
        f"its query stands in the text (an action written as text included) in {percent(readable.in_text)} of calls; "
        "it can be read at least "
        f"{EARLY_SECONDS:g} s early in {percent(readable.early)}. Seconds from readable to the call: "
        f"p10 {low}, p25 {first}, median {middle}, p75 {third}, p90 {high}"
    )


def mode_row(mode: ModeFigures, prices: Prices) -> tuple[str, ...]:
    """The cells of one serve mode, for :data:`MODE_HEAD`."""
    if mode.why_not:
        return (mode.mode, "not measured", *("" for _ in MODE_HEAD[2:]))
    return (
        mode.mode,
        percent(mode.coverage),
        percent(mode.guessed),
        f"{mode.ready:.1%}",
        number(mode.hidden),
        f"{mode.waited:.3f}",
        "-" if mode.extra.value is None else f"{100 * mode.extra.value:+.1f}",
        "-" if mode.net.value is None else money(mode.net.value, prices),
    )


def notes(modes: Iterable[ModeFigures]) -> list[str]:
    """What has to be known of single modes."""
    said = ((each.mode, each.why_not or "; ".join(filter(None, (_sources(each), each.note)))) for each in modes)
    return [f"{mode}: {note}" for mode, note in said if note]


def _sources(mode: ModeFigures) -> str:
    """What started the searches that served the calls, where that is not one thing alone."""
    if mode.sources is None or len(mode.sources) < 2:
        return ""
    return "served from " + ", ".join(f"{source} {share:.1%}" for source, share in mode.sources.items())


def timing_words(advised: Advised) -> str:
    """Where the times are from."""
    calls = advised.tool_timing
    parts = [f"{count:,} {name}" for name, count in advised.timing.items() if count]
    return (
        f"times of model calls: {', '.join(parts) or 'none'}; durations of tools: {calls[0]:,} of {calls[1]:,} recorded"
    )


def percent(estimate: Estimate) -> str:
    """A share with its interval."""
    if estimate.value is None:
        return "-"
    if estimate.interval is None:
        return f"{estimate.value:.0%}"
    return f"{estimate.value:.0%} ({estimate.interval.low:.0%}-{estimate.interval.high:.0%})"


def number(estimate: Estimate) -> str:
    """Seconds with their interval."""
    if estimate.value is None:
        return "-"
    if estimate.interval is None:
        return f"{estimate.value:.3f}"
    return f"{estimate.value:.3f} ({max(0.0, estimate.interval.low):.3f}-{estimate.interval.high:.3f})"


def money(amount: float, prices: Prices) -> str:
    """An amount in the unit of the prices; seconds of waiting where they are the assumed ones."""
    return f"{amount:+.5f} {prices.unit}" if prices.unit else f"{amount / prices.second:+.3f} s"
