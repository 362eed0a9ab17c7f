"""Advice for programs: one JSON object. Numbers are rounded to a millionth."""

from __future__ import annotations

from typing import Any

from langgraph_prefetch.evaluation.advice.figures import ModeFigures
from langgraph_prefetch.evaluation.advice.readable import EARLY_SECONDS, QUANTILES, Readability
from langgraph_prefetch.evaluation.advice.values import Advice, Advised
from langgraph_prefetch.evaluation.statistics.values import Estimate


def as_json(advised: Advised) -> dict[str, Any]:
    """The object."""
    prices = advised.prices
    timed, calls = advised.tool_timing
    return {
        "files": [
            {"file": file, "format": form, "runs": runs, "skipped": skipped}
            for file, form, runs, skipped in advised.files
        ],
        "runs": advised.runs,
        "model_calls": advised.model_calls,
        "timing": dict(advised.timing),
        "tool_calls": calls,
        "tool_calls_timed": timed,
        "assumptions": list(advised.assumptions),
        "prices": {name: getattr(prices, name) for name in prices.__slots__},
        "tools": [_tool(each) for each in advised.advice],
        "code": advised.code,
        "pasted": {name: _mode(each) for name, each in advised.pasted.items()},
        "verified_code": advised.verified_code,
    }


def _tool(advice: Advice) -> dict[str, Any]:
    evidence = advice.evidence
    facts = evidence.facts
    return {
        "tool": advice.tool,
        "verdict": str(advice.verdict),
        "reasons": list(advice.reasons),
        "mode": advice.mode,
        "guess": advice.guess,
        "reuse": advice.reuse,
        "more": list(advice.more),
        "name_says": evidence.suspicion,
        "named": evidence.named,
        "calls": facts.calls,
        "runs": facts.runs,
        "typical_seconds": _round(facts.typical_seconds),
        "calls_timed": facts.recorded,
        "query_argument": facts.query_argument,
        "run_seconds_per_call": _round(evidence.run_seconds),
        "readable": None if evidence.readable is None else _readable(evidence.readable),
        "modes": {name: _mode(each) for name, each in evidence.modes.items()},
    }


def _readable(readable: Readability) -> dict[str, Any]:
    seconds = zip(QUANTILES, readable.seconds, strict=True)
    found: dict[str, Any] = {
        "calls": readable.calls,
        "early_seconds": EARLY_SECONDS,
        "early": _estimate(readable.early),
        "in_text": _estimate(readable.in_text),
        "seconds_before_the_call": {f"p{round(100 * at)}": _round(value) for at, value in seconds},
    }
    if readable.late_queries:
        found["late_queries"] = list(readable.late_queries)
    return found


def _mode(mode: ModeFigures) -> dict[str, Any]:
    if mode.why_not:
        return {"why_not": mode.why_not}
    return {
        "calls": mode.calls,
        "coverage": _estimate(mode.coverage),
        "guessed": _estimate(mode.guessed),
        "ready_share": _round(mode.ready),
        "hidden_seconds_per_call": _estimate(mode.hidden),
        "waited_seconds_per_call": _round(mode.waited),
        "extra_calls_per_call": _estimate(mode.extra),
        "net_value_per_call": _estimate(mode.net),
        "gain_per_call": None if mode.gain is None else _estimate(mode.gain),
        "sources": {name: _round(share) for name, share in (mode.sources or {}).items()},
        "note": mode.note,
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    interval = estimate.interval
    return {
        "value": _round(estimate.value),
        "low": None if interval is None else _round(interval.low),
        "high": None if interval is None else _round(interval.high),
    }


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
