"""From evidence to advice. Pure; every threshold has a name and a reason."""

from __future__ import annotations

from langgraph_prefetch.evaluation.advice.figures import ModeFigures, Prices
from langgraph_prefetch.evaluation.advice.names import may_search_passages
from langgraph_prefetch.evaluation.advice.quantities import count, duration
from langgraph_prefetch.evaluation.advice.values import (
    AS_IT_RAN,
    BOUNDED,
    REASONING,
    REUSE,
    SEALED,
    VERIFIED,
    Advice,
    Evidence,
    Verdict,
)
from langgraph_prefetch.evaluation.statistics.values import Estimate

MIN_CALLS = 20
"""With fewer calls the interval of a coverage of one half is wider than 40 points: it says nothing."""
MIN_RUNS = 5
"""The runs are what differs from tomorrow's traffic; intervals from fewer than five are guesses about guesses."""
FAST_SECONDS = 0.010
"""Retrieval under this leaves nothing to hide: it is less than one token takes, so a sealed call hides all of it, and
less than verified serving starts for. A local HNSW index answers in half a millisecond."""
MIN_HIDDEN_SECONDS = 0.05
"""Less than this a call is a token or two at the usual speed: as much as the timing of a trace can be wrong by."""
MIN_HIDDEN_SHARE = 0.01
"""Less than this of the agent's time nobody notices."""
HIDES_ALL = 0.9
"""From this share of a retrieval on, what sealed calls hide leaves too little for guesses to be worth their misses."""
MIN_REUSED = 0.05
"""Reuse gives results that are older than the call: not for less than one call in twenty."""
FEW = 0.2
"""Queries that are readable early in a smaller share of calls count as not readable."""


def decide(evidence: Evidence, prices: Prices) -> Advice:
    """Whether to turn prefetch on for a tool, and how."""
    facts = evidence.facts
    if evidence.suspicion == "acts" and not evidence.named:
        return Advice(
            evidence=evidence,
            verdict=Verdict.CANNOT_TELL,
            reasons=(
                "its name says that it does something, and what runs early may run for nothing: only tools that just "
                f"read may be named. If it only reads, run this again with --tool {facts.name}",
            ),
        )
    if facts.calls < MIN_CALLS or facts.runs < MIN_RUNS:
        seen = f"{count(facts.calls, 'call')} in {count(facts.runs, 'run')}"
        reason = f"{seen}: it takes {MIN_CALLS} calls in {MIN_RUNS} runs to say anything"
        return Advice(evidence=evidence, verdict=Verdict.TOO_LITTLE_DATA, reasons=(reason,))
    if AS_IT_RAN in evidence.modes:
        return _as_it_ran(evidence, evidence.modes[AS_IT_RAN])
    if not evidence.modes:
        reason = f"not measured, since many tools are called more: name it with --tool {facts.name}"
        return Advice(evidence=evidence, verdict=Verdict.CANNOT_TELL, reasons=(reason,))
    if facts.typical_seconds < FAST_SECONDS:
        reason = (
            f"a call takes {duration(facts.typical_seconds)}: there is nothing to hide. What little there is, a sealed "
            "call would hide; you would not notice"
        )
        return Advice(evidence=evidence, verdict=Verdict.NOT_WORTH_IT, reasons=(reason,))
    return _by_figures(evidence, prices)


def _by_figures(evidence: Evidence, prices: Prices) -> Advice:
    sealed, reasoning = evidence.modes[SEALED], evidence.modes.get(REASONING)
    guess = reasoning is not None and _above(reasoning.gain, 0.0)
    best = reasoning if reasoning is not None and guess else sealed
    more = _more(evidence, best)
    reasons = [_guess_reason(evidence, sealed, reasoning, prices, guess=guess)]
    verdict, reason = _worth(evidence, best, prices)
    if verdict is Verdict.RECOMMENDED and evidence.suspicion == "unknown" and not evidence.named:
        verdict = Verdict.CANNOT_TELL
        reason = (
            f"{reason}; but its name does not say that it only reads. If it does, run this again with "
            f"--tool {evidence.facts.name}"
        )
    bounded = evidence.modes.get(BOUNDED)
    if verdict is not Verdict.RECOMMENDED and more:
        reasons.append(f"{' or '.join(more)} would bring more here: see its line")
    elif verdict is Verdict.NOT_WORTH_IT and reasoning is not None and _may_help(evidence, bounded):
        reasons.append("if it is a plain vector search, near misses may still help: say what it searches with --corpus")
    reuse = evidence.modes.get(REUSE)
    return Advice(
        evidence=evidence,
        verdict=verdict,
        reasons=(reason, *(each for each in reasons if each)),
        guess=guess,
        reuse=reuse is not None and _above(reuse.gain, 0.0) and (reuse.sources or {}).get("reuse", 0.0) >= MIN_REUSED,
        more=more,
    )


def _worth(evidence: Evidence, best: ModeFigures, prices: Prices) -> tuple[Verdict, str]:
    hidden = best.hidden.value or 0.0
    said = f"{best.mode} hides {_per_call(best.hidden)} of {duration(evidence.facts.typical_seconds)}"
    part = hidden / evidence.run_seconds if evidence.run_seconds else None
    if _below(best.hidden, MIN_HIDDEN_SECONDS):
        return Verdict.NOT_WORTH_IT, f"{said}: less than a token or two, and you would not notice"
    if not _above(best.hidden, MIN_HIDDEN_SECONDS):
        return (
            Verdict.TOO_LITTLE_DATA,
            f"{said}; whether that is above {duration(MIN_HIDDEN_SECONDS)} takes more runs to say",
        )
    if part is not None and part < MIN_HIDDEN_SHARE:
        return Verdict.NOT_WORTH_IT, f"{said}: {part:.1%} of the agent's time, and you would not notice"
    if _below(best.net, 0.0):
        extra = f"{100 * (best.extra.value or 0.0):.0f} extra calls for each 100"
        return Verdict.NOT_WORTH_IT, f"{said}, but its {extra} cost more than that is worth"
    if not _above(best.net, 0.0):
        return Verdict.TOO_LITTLE_DATA, f"{said}; whether that is worth its extra calls takes more runs to say"
    return Verdict.RECOMMENDED, f"{said}" + (f", {part:.0%} of the agent's time" if part is not None else "")


def _guess_reason(
    evidence: Evidence, sealed: ModeFigures, reasoning: ModeFigures | None, prices: Prices, *, guess: bool
) -> str:
    """Why its searches start from reasoning, or not."""
    if reasoning is None:
        return (
            "its calls do not show which argument is the query (several of them vary), so nothing can be guessed: "
            "closed arguments alone start a search"
        )
    if guess:
        return f"guesses from reasoning add {_worth_of(reasoning.gain, prices)} a call net of what wrong ones cost"
    early = evidence.readable.early.value if evidence.readable is not None else None
    if early is not None and early < FEW:
        return (
            f"guesses from reasoning add nothing that is sure: the query can be read early in {early:.0%} of the "
            "calls, and nobody can guess a query that stands nowhere"
        )
    if (sealed.hidden.value or 0.0) >= HIDES_ALL * evidence.facts.typical_seconds:
        return "guesses from reasoning add nothing: sealed calls hide nearly all of the retrieval already"
    if _below(reasoning.gain, 0.0):
        return "guesses from reasoning cost more than they hide here: guess=False"
    return "guesses from reasoning are not sure to bring more than they cost here: guess=False"


def _more(evidence: Evidence, best: ModeFigures) -> tuple[str, ...]:
    """Modes that hide at least one token or two more than the best exact one, and whose worth is above their cost."""
    found = []
    for name in (VERIFIED, BOUNDED):
        mode = evidence.modes.get(name)
        if mode is None or mode.why_not or mode.hidden.value is None or mode.hidden.interval is None:
            continue
        added = mode.hidden.interval.low - (best.hidden.value or 0.0)
        if added >= MIN_HIDDEN_SECONDS and (mode.net.value or 0.0) > (best.net.value or 0.0):
            found.append(name)
    return tuple(found)


def _may_help(evidence: Evidence, bounded: ModeFigures | None) -> bool:
    """Whether near misses were not measured, and might help."""
    return bounded is not None and bool(bounded.why_not) and may_search_passages(evidence.facts.name)


def _as_it_ran(evidence: Evidence, ran: ModeFigures) -> Advice:
    said = f"it hid {_per_call(ran.hidden)} of {duration(evidence.facts.typical_seconds)}"
    if _above(ran.net, 0.0):
        return Advice(
            evidence=evidence, verdict=Verdict.RECOMMENDED, reasons=(f"{said}: leave it on as it is",), guess=True
        )
    if _below(ran.net, 0.0):
        reason = f"{said}, and its extra calls cost more than that is worth"
        return Advice(evidence=evidence, verdict=Verdict.NOT_WORTH_IT, reasons=(reason,))
    reason = f"{said}; whether that is worth its extra calls takes more runs to say"
    return Advice(evidence=evidence, verdict=Verdict.TOO_LITTLE_DATA, reasons=(reason,))


def _above(estimate: Estimate | None, least: float) -> bool:
    """Surely above."""
    return estimate is not None and estimate.interval is not None and estimate.interval.low > least


def _below(estimate: Estimate | None, most: float) -> bool:
    """Surely not above."""
    return estimate is not None and estimate.interval is not None and estimate.interval.high <= most


def _per_call(estimate: Estimate | None) -> str:
    return "nothing" if estimate is None or estimate.value is None else f"{duration(max(0.0, estimate.value))} a call"


def _worth_of(estimate: Estimate | None, prices: Prices) -> str:
    """In the unit of the prices; in seconds of waiting where they are the assumed ones."""
    value = 0.0 if estimate is None or estimate.value is None else estimate.value
    return f"{value:.5f} {prices.unit}" if prices.unit else duration(value / prices.second)
