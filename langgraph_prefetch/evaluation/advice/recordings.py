"""Traced runs as episodes, for the replays that know no others: near misses and verified serving."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from langgraph_prefetch.evaluation.importers.values import TracedRun, TracedStep
from langgraph_prefetch.evaluation.traces import Episode, RecordedStep, Recording
from langgraph_prefetch.values import ReasoningDelta, TextDelta

SIDE_BY_SIDE = "several calls side by side"
"""The action of a message with several calls. It is no search tool's, so such calls count as not covered."""
_SPOKEN = "respond"


def recording_of(runs: Iterable[TracedRun], file: str, *, apart: bool) -> Recording:
    """One recording of all runs.

    Args:
        runs: what was traced.
        file: its name.
        apart: a message with several calls becomes as many steps, the first of which has the thought; otherwise it is
            one step that calls none of the named tools.
    """
    episodes = tuple(_episode(run, apart=apart) for run in runs)
    return Recording(file=file, episodes=episodes, malformed=())


def places_of(recording: Recording, tools: Sequence[str]) -> list[tuple[int, str]]:
    """Number of the episode and tool of every call of the named tools, in their order."""
    return [
        (number, step.action)
        for number, episode in enumerate(recording.episodes)
        for step in episode.steps
        if step.action in tools
    ]


def _episode(run: TracedRun, *, apart: bool) -> Episode:
    steps = tuple(each for step in run.steps for each in _steps(step, apart=apart))
    return Episode(style="tool_calls", question=run.question, steps=steps)


def _steps(step: TracedStep, *, apart: bool) -> Iterable[RecordedStep]:
    thought = "".join(each.text for each in step.deltas if isinstance(each, TextDelta | ReasoningDelta))
    if not step.calls:
        yield RecordedStep(thought=thought, action=_SPOKEN, query="")
    elif len(step.calls) > 1 and not apart:
        yield RecordedStep(thought=thought, action=SIDE_BY_SIDE, query="")
    else:
        for number, call in enumerate(step.calls):
            said = "" if number else thought
            yield RecordedStep(thought=said, action=call.name, query=dict(call.arguments), observation=call.result)
