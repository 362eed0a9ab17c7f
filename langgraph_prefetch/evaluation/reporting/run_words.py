"""A run's timeline in words."""

from __future__ import annotations

from langgraph_prefetch.evaluation.reporting.plain import MAX_ROWS, shown
from langgraph_prefetch.evaluation.reporting.values import RunTimeline, Table
from langgraph_prefetch.observe.timeline.collect import runs_of
from langgraph_prefetch.observe.timeline.marks import CallMark, RunLine, SpeculationMark


def run_of(plot: RunTimeline) -> RunLine | None:
    """The run that is drawn: the first of the events; None where they hold none."""
    return next(iter(runs_of(plot.events)), None)


def run_sentence(plot: RunTimeline) -> str:
    """How long it took, and what was hidden of it."""
    run = run_of(plot)
    if run is None:
        return "Nothing to draw: no events of this run were kept."
    served = sum(call.source is not None for call in run.calls)
    hidden, waited = (sum(getattr(call, name) for call in run.calls) for name in ("hidden", "waited"))
    unused = sum(str(each.fate) in ("wasted", "failed", "cancelled") for each in run.speculations)
    return (
        f"The run took {shown(run.end - run.start)} s with {_count(run.all_steps, 'model call')} and "
        f"{_count(len(run.calls), 'search call')}, of which {served} answered ahead of time: {shown(hidden)} s of "
        f"retrieval hidden, {shown(waited)} s waited; {_count(unused, 'speculation')} not used."
    )


def run_table(plot: RunTimeline) -> Table | None:
    """Its marks in order of time."""
    run = run_of(plot)
    if run is None:
        return None
    rows = sorted(
        [
            *((step.start, step.end, step.step, "model call", "") for step in run.steps),
            *((each.start, each.end, each.step, f"speculation, {each.tool}", _fate(each)) for each in run.speculations),
            *((call.start, call.end, call.step, f"search call, {call.tool}", _answer(call)) for call in run.calls),
        ],
        key=lambda row: row[0],
    )
    cells = tuple(
        (f"{start - run.start:.3f}", "open" if end is None else f"{end - start:.3f}", str(step), what, outcome)
        for start, end, step, what, outcome in rows
    )
    note = "" if len(cells) <= MAX_ROWS else f"The first {MAX_ROWS} of {len(cells)} marks."
    head = ("Begins (s)", "lasts (s)", "model call", "what", "outcome")
    return Table(caption=plot.caption, head=head, rows=cells[:MAX_ROWS], note=note)


def _fate(mark: SpeculationMark) -> str:
    return f"{mark.fate}: {mark.reason}" if mark.reason else str(mark.fate)


def _answer(call: CallMark) -> str:
    if call.source is None:
        return f"the tool ran: {call.reason}" if call.reason else "the tool ran"
    return f"answered by {call.source}{', joined while it ran' if call.late else ''}, {call.hidden:.3f} s hidden"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
