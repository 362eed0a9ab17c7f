"""Runs and evidence made by hand."""

from collections.abc import Sequence
from typing import Any

from langgraph_prefetch.evaluation.advice.figures import ModeFigures
from langgraph_prefetch.evaluation.advice.names import Suspicion
from langgraph_prefetch.evaluation.advice.rates import share
from langgraph_prefetch.evaluation.advice.readable import Readability
from langgraph_prefetch.evaluation.advice.tools import ToolFacts
from langgraph_prefetch.evaluation.advice.values import REASONING, SEALED, Evidence
from langgraph_prefetch.evaluation.importers.messages import in_tokens
from langgraph_prefetch.evaluation.importers.values import Trace, TracedCall, TracedRun, TracedStep
from langgraph_prefetch.evaluation.statistics.values import Estimate, Interval
from langgraph_prefetch.values import TextDelta, ToolCallDelta


def call(query: Any = "Ada Lovelace", name: str = "search", **fields: Any) -> TracedCall:
    arguments = query if isinstance(query, dict) else {"query": query}
    return TracedCall(name=name, arguments=arguments, **fields)


def step(thought: str, *calls: TracedCall, **fields: Any) -> TracedStep:
    """One message, cut into tokens as a model would have streamed it."""
    import json

    written = [
        ToolCallDelta(index=at, call_id=f"c{at}", name=each.name, arguments=json.dumps(dict(each.arguments)))
        for at, each in enumerate(calls)
    ]
    return TracedStep(deltas=tuple(in_tokens([TextDelta(thought), *written])), calls=calls, **fields)


def run(*steps: TracedStep, question: str = "Who?") -> TracedRun:
    return TracedRun(question=question, steps=steps)


def trace(runs: Sequence[TracedRun]) -> Trace:
    return Trace(file="made.jsonl", format="messages", runs=tuple(runs))


def about(value: float, give: float = 0.01) -> Estimate:
    return Estimate(value=value, interval=Interval(low=value - give, high=value + give), n=100)


def mode(name: str, hidden: float, *, extra: float = 0.0, gain: float | None = None, give: float = 0.01) -> ModeFigures:
    """Prices as in a replay: a call for nothing is worth 0.2 s."""
    return ModeFigures(
        mode=name,
        calls=100,
        coverage=about(0.9),
        hidden=about(hidden, give),
        extra=about(extra),
        net=about(hidden - 0.2 * extra, give),
        gain=None if gain is None else about(gain, give),
    )


def evidence(
    *modes: ModeFigures,
    calls: int = 100,
    runs: int = 50,
    seconds: float = 0.5,
    name: str = "search",
    suspicion: Suspicion = "reads",
    named: bool = False,
    early: float = 0.9,
    run_seconds: float | None = 3.0,
) -> Evidence:
    given = modes or (mode(SEALED, 0.02), mode(REASONING, 0.3, extra=0.2, gain=0.24))
    return Evidence(
        facts=ToolFacts(name=name, calls=calls, runs=runs, typical_seconds=seconds, query_argument="query"),
        suspicion=suspicion,
        named=named,
        readable=Readability(
            calls=calls, early=share([(early, 1.0)] * 10), in_text=share([(1.0, 1.0)] * 10), seconds=(0.0,) * 5
        ),
        run_seconds=run_seconds,
        modes={each.mode: each for each in given},
    )
