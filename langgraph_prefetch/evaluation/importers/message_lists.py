"""Message lists, as a checkpointer keeps them: each conversation becomes one run for each question of its user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from langgraph_prefetch.evaluation.importers.assembling import runs_of_messages
from langgraph_prefetch.evaluation.importers.messages import WireMessage, message_of
from langgraph_prefetch.evaluation.importers.reader import WRITTEN_AS_TEXT, Reader, Source
from langgraph_prefetch.evaluation.importers.values import TracedRun
from langgraph_prefetch.events import Event

_WITHIN = ("messages", "values", "channel_values", "checkpoint", "state", "kwargs")
"""Under which names a state, a snapshot or a checkpoint keeps its messages, the outermost first."""
_MAX_DEPTH = 4


def messages_in(record: Any) -> list[Any] | None:
    """The list of messages of a state, a snapshot or a checkpoint; None where there is none."""
    for _ in range(_MAX_DEPTH):
        if isinstance(record, list):
            return record if record and (message_of(record[0]) is not None or isinstance(record[0], str)) else None
        if not isinstance(record, Mapping):
            return None
        record = next((record[name] for name in _WITHIN if isinstance(record.get(name), list | Mapping)), None)
    return None


def _recognises(record: Any) -> bool:
    return message_of(record) is not None or messages_in(record) is not None


def _read(source: Source) -> tuple[tuple[TracedRun, ...], tuple[Event, ...]]:
    runs: list[TracedRun] = []
    loose: list[WireMessage] = []
    for record in source.records():
        if (message := message_of(record.value)) is not None:
            loose.append(message)  # a message a record: together they are one conversation
        elif (found := messages_in(record.value)) is not None:
            runs.extend(runs_of_messages(_messages(found, record.line, source)))
        elif isinstance(record.value, str):
            source.skipped.add(record.line, WRITTEN_AS_TEXT)
        else:
            source.skipped.add(record.line, "neither a message nor a list of messages")
    runs.extend(runs_of_messages(loose))
    return tuple(runs), ()


def _messages(values: list[Any], line: int, source: Source) -> Iterator[WireMessage]:
    for value in values:
        message = message_of(value)
        if message is not None:
            yield message
        elif isinstance(value, str):
            source.skipped.add(line, WRITTEN_AS_TEXT)
        elif not (isinstance(value, Mapping) and value.get("type") == "remove"):
            source.skipped.add(line, "a message of no known shape")


MESSAGES = Reader(
    name="messages",
    looks_like='{"messages": […]} or lists of messages, as dumpd, messages_to_dict, model_dump or OpenAI write them',
    recognises=_recognises,
    read=_read,
)
