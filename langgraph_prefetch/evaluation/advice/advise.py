"""From traces to advice."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from langgraph_prefetch.errors import ConfigurationError, did_you_mean
from langgraph_prefetch.evaluation.advice.code import chosen_of, guesses_for, verified_code, wrapping_code
from langgraph_prefetch.evaluation.advice.decide import MIN_CALLS, MIN_RUNS, decide
from langgraph_prefetch.evaluation.advice.figures import Prices, counts_of, mode_figures, sources_of
from langgraph_prefetch.evaluation.advice.modes import Trials
from langgraph_prefetch.evaluation.advice.names import suspicion_of
from langgraph_prefetch.evaluation.advice.near_misses import Corpus
from langgraph_prefetch.evaluation.advice.play import Scenario
from langgraph_prefetch.evaluation.advice.readable import quantiles, readability
from langgraph_prefetch.evaluation.advice.schedule import Timing, schedule
from langgraph_prefetch.evaluation.advice.tools import ToolFacts, facts_of
from langgraph_prefetch.evaluation.advice.values import AS_IT_RAN, Advised, Evidence, Verdict
from langgraph_prefetch.evaluation.importers.values import Trace, TracedRun
from langgraph_prefetch.events import Event, SearchCallAnswered
from langgraph_prefetch.intent.cues import CueSet, default_cues

MAX_MEASURED = 12
"""Of more tools than this only the ones called most are played; each takes a pass over all runs for each mode."""
_SHOWN_QUERIES = 5
ASSUMED_PRICES = Prices(call=0.2, second=1.0)
"""A wrong call for nothing is worth a fifth of a second: the same as in a replay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceSettings:
    """What is asked, and what is assumed where nothing was recorded.

    Attributes:
        tools: those that the user names, giving their word that they only read; empty: all whose name does not act.
        tokens_per_second, latency_seconds, graph_step_seconds: for what was not recorded.
        reuse_seconds: for the mode with reuse.
        prices: of a call and a second.
        corpus: what the tools search, for near misses.
        cues: the language of intent; that of the package if None.
        show_queries: queries may be shown, and constant texts may stand in the code.
    """

    tools: tuple[str, ...] = ()
    tokens_per_second: float = 50.0
    latency_seconds: float = 0.5
    graph_step_seconds: float = 0.002
    reuse_seconds: float = 300.0
    prices: Prices = ASSUMED_PRICES
    corpus: Corpus | None = None
    cues: CueSet | None = None
    show_queries: bool = False

    def __post_init__(self) -> None:
        for name, value in (("tokens_per_second", self.tokens_per_second), ("reuse_seconds", self.reuse_seconds)):
            if not 0 < value < math.inf:
                raise ConfigurationError(f"{name} must be above 0, not {value!r}")
        for name in ("latency_seconds", "graph_step_seconds"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ConfigurationError(f"{name} must be at least 0, not {getattr(self, name)!r}")
        if not 0 <= self.prices.call < math.inf:
            raise ConfigurationError(f"the price of a call must be at least 0, not {self.prices.call!r}")
        if not 0 < self.prices.second < math.inf:
            raise ConfigurationError(f"the value of a second must be above 0, not {self.prices.second!r}")


def advise(traces: Sequence[Trace], settings: AdviceSettings, on_play: Callable[[], None] = lambda: None) -> Advised:
    """Say for each tool whether prefetch would help. No model and no tool is called.

    Args:
        traces: of one agent.
        settings: the rest.
        on_play: called after each pass over all runs.

    Raises:
        ConfigurationError: a named tool is never called; the environment switches prefetch off.
    """
    runs = tuple(run for trace in traces for run in trace.runs)
    events = [event for trace in traces for event in trace.events]
    facts = facts_of(runs, settings.latency_seconds, texts=settings.show_queries)
    ran = _facts_as_it_ran(events)
    _check_named(settings.tools, [each.name for each in (*facts, *ran.values())])
    trials = _trials(runs, facts, settings, on_play)
    evidence = [*_replayed(runs, facts, trials, settings), *_as_it_ran(events, ran, settings)]
    decided = [decide(each, settings.prices) for each in evidence]
    advice = tuple(sorted(decided, key=lambda each: list(Verdict).index(each.verdict)))
    timing = Counter(schedule(step, settings.tokens_per_second).timing for run in runs for step in run.steps)
    replayed = [each for each in advice if AS_IT_RAN not in each.evidence.modes]
    chosen = chosen_of(replayed)
    return Advised(
        files=tuple((each.file, each.format, len(each.runs), each.skipped_count) for each in traces),
        runs=len(runs) + len({getattr(each, "run_id", None) for each in events}),
        model_calls=sum(len(run.steps) for run in runs),
        timing={str(each): timing[each] for each in Timing},
        tool_timing=(sum(each.recorded for each in facts), sum(each.calls for each in facts)),
        assumptions=_assumptions(timing, facts, settings),
        prices=settings.prices,
        advice=advice,
        code=wrapping_code(replayed, settings.prices, settings.reuse_seconds),
        pasted=trials.pasted([each.evidence.facts for each in chosen], guesses_for(chosen)) if chosen else {},
        verified_code=verified_code(replayed, settings.prices),
    )


def _check_named(named: Sequence[str], known: Sequence[str]) -> None:
    for name in named:
        if name not in known:
            called = ", ".join(known[:20]) or "none"
            raise ConfigurationError(
                f"{name!r} is never called in these traces.{did_you_mean(name, known)} Called: {called}"
            )


def _may_run(facts: Sequence[ToolFacts], settings: AdviceSettings) -> tuple[ToolFacts, ...]:
    """The tools that are played as search tools: the named ones, else all whose name does not act."""
    if settings.tools:
        return tuple(each for each in facts if each.name in settings.tools)
    return tuple(each for each in facts if suspicion_of(each.name) != "acts")


def _trials(
    runs: Sequence[TracedRun], facts: Sequence[ToolFacts], settings: AdviceSettings, on_play: Callable[[], None]
) -> Trials:
    scenario = Scenario(
        tools=_may_run(facts, settings),
        tokens_per_second=settings.tokens_per_second,
        graph_step_seconds=settings.graph_step_seconds,
    )
    return Trials(
        runs,
        scenario,
        settings.prices,
        reuse_seconds=settings.reuse_seconds,
        cues=settings.cues or default_cues(),
        corpus=settings.corpus,
        on_play=on_play,
    )


def _replayed(
    runs: Sequence[TracedRun], facts: Sequence[ToolFacts], trials: Trials, settings: AdviceSettings
) -> Iterable[Evidence]:
    may_run = _may_run(facts, settings)
    enough = [each for each in may_run if each.calls >= MIN_CALLS and each.runs >= MIN_RUNS][:MAX_MEASURED]
    for each in facts:
        if settings.tools and each.name not in settings.tools:
            continue
        measured = each in enough
        yield Evidence(
            facts=each,
            suspicion=suspicion_of(each.name),
            named=each.name in settings.tools,
            readable=readability(
                runs,
                each.name,
                each.query_argument,
                tokens_per_second=settings.tokens_per_second,
                graph_step_seconds=settings.graph_step_seconds,
                show=_SHOWN_QUERIES if settings.show_queries else 0,
            ),
            run_seconds=trials.run_seconds() / each.calls if measured else None,
            modes=trials.modes(each) if measured else {},
            measured=measured,
        )


def _facts_as_it_ran(events: Sequence[Event]) -> Mapping[str, ToolFacts]:
    answers: dict[str, list[SearchCallAnswered]] = {}
    for event in events:
        if isinstance(event, SearchCallAnswered):
            answers.setdefault(event.tool, []).append(event)
    return {
        name: ToolFacts(
            name=name,
            calls=len(held),
            runs=len({each.run_id for each in held}),
            typical_seconds=quantiles([each.retrieval_seconds for each in held])[2],
            recorded=len(held),
        )
        for name, held in sorted(answers.items(), key=lambda item: -len(item[1]))
    }


def _as_it_ran(events: Sequence[Event], ran: Mapping[str, ToolFacts], settings: AdviceSettings) -> Iterable[Evidence]:
    """What our own event files tell: what prefetch did while it was on."""
    by_run: dict[str, list[Event]] = {}
    for event in events:
        if (run_id := getattr(event, "run_id", None)) is not None:
            by_run.setdefault(run_id, []).append(event)
    held = list(by_run.values())
    for name, facts in ran.items():
        if settings.tools and name not in settings.tools:
            continue
        figures = mode_figures(
            AS_IT_RAN,
            counts_of(held, name),
            settings.prices,
            sources=sources_of(held, name),
            note="with its settings of then",
        )
        # It was named when it ran: whoever did that gave their word.
        yield Evidence(facts=facts, suspicion=suspicion_of(name), named=True, modes={AS_IT_RAN: figures})


def _assumptions(timing: Counter[Timing], facts: Sequence[ToolFacts], settings: AdviceSettings) -> tuple[str, ...]:
    said = []
    if timing[Timing.SPREAD]:
        said.append(
            f"{timing[Timing.SPREAD]:,} model calls have a recorded duration and no times of tokens: theirs are spread "
            "evenly over it, so a slow first token makes queries look readable earlier than they were"
        )
    if timing[Timing.ASSUMED]:
        said.append(
            f"{timing[Timing.ASSUMED]:,} model calls have no times: {settings.tokens_per_second:g} tokens a second"
        )
    unknown = [each.name for each in facts if not each.recorded]
    if unknown:
        named = ", ".join(unknown[:5]) + (", …" if len(unknown) > 5 else "")
        said.append(f"no durations of {named}: {settings.latency_seconds:g} s a call")
    if any(0 < each.recorded < each.calls for each in facts):
        said.append("calls of a tool without a duration of their own take its median")
    if timing:
        said.append("model calls follow one another, and the user takes no time")
    if not settings.prices.unit:
        said.append(
            f"a call for nothing is worth {settings.prices.call / settings.prices.second:g} s of waiting "
            "(--price-per-call, --value-of-second)"
        )
    return tuple(said)
