"""Events, in whatever order they were kept, into the runs that a timeline draws. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from langgraph_prefetch.events import (
    Event,
    NearAnswered,
    NearChecked,
    NearFetched,
    NearIgnored,
    NearTierChanged,
    NextCallEnded,
    NextCallFate,
    NextCallIgnored,
    NextCallStarted,
    OfNoRun,
    RunEnded,
    RunStarted,
    SearchCallAnswered,
    SpeculationEnded,
    SpeculationIgnored,
    SpeculationJoined,
    SpeculationStarted,
    StepEnded,
    StepStarted,
    Trouble,
    VariantAssigned,
)
from langgraph_prefetch.observe.timeline.marks import (
    CallMark,
    Ending,
    IgnoredMark,
    RunLine,
    SpeculationMark,
    StepMark,
)

MODEL = "next model call"
"""What stands in place of a tool's name."""
NEAR = "near"
"""The source of passages that were fetched around an anchor."""


@dataclass(slots=True)
class _Kept:
    """The events of one run."""

    first: float
    last: float
    started: dict[int, StepStarted] = field(default_factory=dict)
    ended: dict[int, StepEnded] = field(default_factory=dict)
    speculations: dict[str, SpeculationStarted] = field(default_factory=dict)
    fates: dict[str, SpeculationEnded] = field(default_factory=dict)
    joined: dict[str, list[float]] = field(default_factory=dict)
    answered: list[SearchCallAnswered] = field(default_factory=list)
    ignored: list[SpeculationIgnored | NextCallIgnored] = field(default_factory=list)
    next_calls: dict[str, NextCallStarted] = field(default_factory=dict)
    next_ends: dict[str, NextCallEnded] = field(default_factory=dict)
    near: list[NearFetched] = field(default_factory=list)


def runs_of(events: Iterable[Event]) -> tuple[RunLine, ...]:
    """The runs, by the time of their first event. What was recorded in part is drawn in part."""
    kept: dict[str, _Kept] = {}
    for event in events:
        if isinstance(event, OfNoRun):
            continue
        run = kept.setdefault(event.run_id, _Kept(event.at, event.at))
        begun = event.at - event.waited_seconds if isinstance(event, SearchCallAnswered) else event.at
        run.first, run.last = min(run.first, begun), max(run.last, event.at)
        _keep(run, event)
    lines = (_line(run_id, run) for run_id, run in kept.items())
    return tuple(sorted(lines, key=lambda line: line.start))


def _keep(run: _Kept, event: Event) -> None:
    match event:
        case StepStarted():
            run.started[event.step] = event
        case StepEnded():
            run.ended[event.step] = event
        case SpeculationStarted():
            run.speculations[event.speculation_id] = event
        case SpeculationEnded():
            run.fates[event.speculation_id] = event
        case SpeculationJoined():
            run.joined.setdefault(event.speculation_id, []).append(event.at)
        case SearchCallAnswered():
            run.answered.append(event)
        case NextCallStarted():
            run.next_calls[event.next_call_id] = event
        case NextCallEnded():
            run.next_ends[event.next_call_id] = event
        case SpeculationIgnored() | NextCallIgnored():
            run.ignored.append(event)
        case NearFetched():
            run.near.append(event)
        case RunStarted() | RunEnded() | Trouble() | NearTierChanged() | VariantAssigned():
            pass
        case NearIgnored() | NearAnswered() | NearChecked():  # how a call was answered shows in the call
            pass


def _line(run_id: str, run: _Kept) -> RunLine:
    steps = [_step(number, run) for number in sorted(run.started.keys() | run.ended.keys())]
    calls = sorted((_call(each) for each in run.answered), key=lambda call: call.start)
    return RunLine(
        id=run_id,
        start=run.first,
        end=run.last,
        steps=tuple(steps),
        speculations=tuple(sorted((*_speculations(run), *_next_calls(run), *_near(run)), key=_start)),
        calls=tuple(calls),
        ignored=tuple(sorted((_ignored(each) for each in run.ignored), key=lambda mark: mark.at)),
        all_steps=len(steps),
    )


def _speculations(run: _Kept) -> list[SpeculationMark]:
    return [_speculation(each, run) for each in run.speculations.values()]


def _next_calls(run: _Kept) -> list[SpeculationMark]:
    return [_next_call(each, run) for each in run.next_calls.values()]


def _near(run: _Kept) -> list[SpeculationMark]:
    return [
        SpeculationMark(
            id=f"near-{number}",
            step=event.step,
            start=event.at - event.seconds,
            end=event.at,
            seconds=event.seconds,
            tool=event.tool,
            source=NEAR,
            probability=1.0,
            cue=event.kind,
            fate=Ending.FETCHED,
            reason=f"{event.passages} passages",
        )
        for number, event in enumerate(run.near)
    ]


def _start(mark: SpeculationMark) -> float:
    return mark.start


def _step(number: int, run: _Kept) -> StepMark:
    started, ended = run.started.get(number), run.ended.get(number)
    if ended is None:
        return StepMark(step=number, start=started.at if started else run.first)
    return StepMark(
        step=number,
        start=started.at if started else run.first,
        end=ended.at,
        pieces=ended.pieces,
        slices=ended.slices,
        call_at=ended.call_at,
    )


def _speculation(event: SpeculationStarted, run: _Kept) -> SpeculationMark:
    mark = SpeculationMark(
        id=event.speculation_id,
        step=event.step,
        start=event.at,
        tool=event.tool,
        source=str(event.source),
        probability=event.probability,
        cue=event.cue,
        query=event.query,
        joined=tuple(run.joined.get(event.speculation_id, ())),
    )
    fate = run.fates.get(event.speculation_id)
    if fate is None:
        return mark
    return replace(mark, end=fate.at, seconds=fate.seconds, fate=Ending(str(fate.fate)), reason=fate.reason)


def _next_call(event: NextCallStarted, run: _Kept) -> SpeculationMark:
    mark = SpeculationMark(
        id=event.next_call_id,
        step=event.step,
        start=event.at,
        tool=MODEL,
        source=event.guesses,
        probability=event.p_equal,
        cue=MODEL,
        is_model_call=True,
    )
    ended = run.next_ends.get(event.next_call_id)
    if ended is None:
        return mark
    fate = Ending.SERVED if ended.fate is NextCallFate.ADOPTED else Ending(str(ended.fate))
    return replace(mark, end=ended.at, seconds=ended.seconds, fate=fate, reason=ended.reason)


def _call(event: SearchCallAnswered) -> CallMark:
    return CallMark(
        step=event.step,
        start=event.at - event.waited_seconds,
        end=event.at,
        tool=event.tool,
        source=None if event.source is None else str(event.source),
        speculation=event.speculation_id,
        late=event.late,
        reason=event.reason,
        waited=event.waited_seconds,
        retrieval=event.retrieval_seconds,
        lead=event.lead_seconds,
        hideable=event.hideable_seconds,
        hidden=event.hidden_seconds,
        failed=event.failed,
        query=event.query,
    )


def _ignored(event: SpeculationIgnored | NextCallIgnored) -> IgnoredMark:
    if isinstance(event, NextCallIgnored):
        return IgnoredMark(step=event.step, at=event.at, tool=MODEL, source=event.guesses, reason=event.reason)
    return IgnoredMark(
        step=event.step,
        at=event.at,
        tool=event.tool,
        source=str(event.source),
        reason=event.reason,
        query=event.query,
    )
