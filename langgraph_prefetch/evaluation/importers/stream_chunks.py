"""Recordings of LangGraph's ``messages`` stream: ``[chunk, metadata]`` pairs, chunks alone, or runs with chunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph_prefetch.evaluation.importers.assembling import ModelCall, ToolRun, assembled
from langgraph_prefetch.evaluation.importers.messages import WireMessage, message_of
from langgraph_prefetch.evaluation.importers.reader import Reader, Source
from langgraph_prefetch.evaluation.importers.times import moment_in
from langgraph_prefetch.evaluation.importers.values import TracedRun
from langgraph_prefetch.events import Event

_PAIR = 2


@dataclass(frozen=True, slots=True)
class _Piece:
    message: WireMessage
    step: int | None
    moment: float | None


def _piece(value: Any) -> _Piece | None:
    if isinstance(value, list) and len(value) == _PAIR and isinstance(value[1], Mapping):
        first, metadata = value
        if first == "messages" or isinstance(first, list):  # several stream modes, or subgraphs: a name in front
            return None
        message, moment = message_of(first), moment_in(metadata)
    elif isinstance(value, list) and len(value) in (_PAIR, _PAIR + 1) and isinstance(value[-1], list):
        return _piece(value[-1])
    elif isinstance(value, Mapping) and isinstance(value.get("chunk"), Mapping | list):
        inner = value["chunk"]
        if isinstance(inner, list):
            return _at(_piece(inner), moment_in(value))
        metadata = value.get("metadata") if isinstance(value.get("metadata"), Mapping) else {}
        message, moment = message_of(inner), moment_in(value)
    else:
        metadata, message = {}, _flat(value)
        moment = moment_in(value) if isinstance(value, Mapping) else None
    return None if message is None else _Piece(message, _step_in(metadata), moment)


def _step_in(metadata: Any) -> int | None:
    """The graph's step; a subgraph counts its own, which say nothing about the run."""
    if not isinstance(metadata, Mapping) or "|" in str(metadata.get("langgraph_checkpoint_ns") or ""):
        return None
    step = metadata.get("langgraph_step")
    return step if isinstance(step, int) else None


def _at(piece: _Piece | None, moment: float | None) -> _Piece | None:
    return piece if piece is None or moment is None else _Piece(piece.message, piece.step, moment)


def _flat(value: Any) -> WireMessage | None:
    """A chunk whose fields a server has sent on by themselves, without saying what kind of message it is."""
    if not isinstance(value, Mapping):
        return None
    known = message_of(value)
    if known is not None or "id" not in value or not {"content", "tool_call_chunks"} & set(value):
        return known
    if isinstance(value.get("tool_call_id"), str):
        return message_of({**value, "role": "tool"})
    if value.get("role") is None and value.get("agent", "") is None:
        return message_of({**value, "role": "user"})  # nobody's chunk: what the user said
    return message_of({**value, "role": "AIMessageChunk", "content": value.get("content") or ""})


def _recognises(record: Any) -> bool:
    if isinstance(record, Mapping) and isinstance(record.get("events"), list) and record["events"]:
        return any(_is_chunk(each) for each in record["events"][:20])
    return _is_chunk(record)


def _is_chunk(value: Any) -> bool:
    piece = _piece(value)
    return piece is not None and (isinstance(value, list) or piece.message.tool_call_chunks is not None)


def _read(source: Source) -> tuple[tuple[TracedRun, ...], tuple[Event, ...]]:
    runs: list[TracedRun] = []
    loose = _Chunks()
    for record in source.records():
        value = record.value
        if isinstance(value, Mapping) and isinstance(value.get("events"), list):
            chunks = _Chunks()
            for each in value["events"]:
                if (piece := _piece(each)) is not None:
                    chunks.take(piece)
            runs.extend(chunks.runs())
        elif (piece := _piece(value)) is not None:
            loose.take(piece)
        elif not _is_other_mode(value):
            source.skipped.add(record.line, "no chunk of a message")
    runs.extend(loose.runs())
    return tuple(runs), ()


def _is_other_mode(value: Any) -> bool:
    """``["updates", {…}]``: of another stream mode, recorded beside."""
    return isinstance(value, list) and len(value) in (_PAIR, _PAIR + 1) and isinstance(value[-2], str)


@dataclass(slots=True)
class _Chunks:
    """Chunks in their order. A run begins with a user's message after a model's, or where the steps start anew."""

    finished: list[TracedRun] = field(default_factory=list)
    question: str = ""
    models: dict[str, ModelCall] = field(default_factory=dict)
    tools: list[ToolRun] = field(default_factory=list)
    step: int = 0
    order: int = 0

    def take(self, piece: _Piece) -> None:
        message, self.order = piece.message, self.order + 1
        name = message.id or "?"
        if message.role == "human" or (piece.step is not None and piece.step < self.step and name not in self.models):
            if self.models:
                self._close()
                self.question = ""
            if message.role == "human":
                self.question = message.text
        self.step = piece.step if piece.step is not None else self.step
        if message.role == "tool":
            self.tools.append(
                ToolRun(
                    order=self.order,
                    name=message.name or "",
                    call_id=message.tool_call_id,
                    ended=piece.moment,
                    result=message.text,
                )
            )
        elif message.role == "ai":
            self._speak(name, message, piece.moment)

    def _speak(self, name: str, message: WireMessage, moment: float | None) -> None:
        call = self.models.get(name)
        if call is None:
            call = self.models[name] = ModelCall(order=self.order, question=self.question, began=moment)
        elif message.tool_call_chunks is None and call.deltas:
            call.message = message  # the whole message again, behind its chunks
            return
        deltas = message.deltas
        call.deltas.extend(deltas)
        call.moments.extend([moment] * len(deltas))
        call.ended = moment

    def _close(self) -> None:
        if (run := assembled(tuple(self.models.values()), self.tools)) is not None:
            self.finished.append(run)
        self.models, self.tools, self.step = {}, [], 0

    def runs(self) -> Iterator[TracedRun]:
        """All runs."""
        self._close()
        yield from self.finished


STREAM_CHUNKS = Reader(
    name="stream-chunks",
    looks_like='chunks of stream_mode="messages": [chunk, metadata], or {"events": [chunk, …]}',
    recognises=_recognises,
    read=_read,
)
