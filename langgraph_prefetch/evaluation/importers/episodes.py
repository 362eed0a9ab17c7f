"""Our own episodes (see :mod:`langgraph_prefetch.evaluation.traces`) as traced runs: streamed as a replay would."""

from __future__ import annotations

from typing import Any

from langgraph_prefetch.evaluation.arguments import arguments_of
from langgraph_prefetch.evaluation.importers.reader import Reader, Source
from langgraph_prefetch.evaluation.importers.values import TracedCall, TracedRun, TracedStep
from langgraph_prefetch.evaluation.streams import ENDINGS, MESSAGES, pieces
from langgraph_prefetch.evaluation.traces import Episode, RecordedStep, read_recording
from langgraph_prefetch.events import Event


def _recognises(record: Any) -> bool:
    return isinstance(record, dict) and "steps" in record and "style" in record


def _read(source: Source) -> tuple[tuple[TracedRun, ...], tuple[Event, ...]]:
    recording = read_recording(source.path)
    for line in recording.malformed:
        source.skipped.add(line.line, line.reason)
    return tuple(run_of(episode) for episode in recording.episodes), ()


def run_of(episode: Episode) -> TracedRun:
    """The same run; nothing of its timing was recorded."""
    return TracedRun(
        question=episode.question,
        steps=tuple(_step(step, episode, number) for number, step in enumerate(episode.steps, start=1)),
    )


def _step(step: RecordedStep, episode: Episode, number: int) -> TracedStep:
    arguments, call_id = arguments_of(step), f"call-{number}"
    acts = step.action not in MESSAGES | ENDINGS
    call = TracedCall(name=step.action, arguments=arguments, call_id=call_id, result=step.observation)
    return TracedStep(
        deltas=tuple(pieces(step, arguments, episode.style, call_id)), calls=(call,) if acts and step.action else ()
    )


EPISODES = Reader(
    name="episodes",
    looks_like='lines of {"style", "question", "steps": [{"thought", "action", "query"}]}',
    recognises=_recognises,
    read=_read,
)
