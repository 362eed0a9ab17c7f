"""Recordings of LangGraph's ``astream_events``, v1 and v2, one event a record.

Events carry no time of their own. Where the recorder put one beside them (``{"time": …, "event": {…}}``, or a further
name in the event), tokens and tools are timed by it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph_prefetch.evaluation.importers.assembling import ModelCall, ToolRun, assembled
from langgraph_prefetch.evaluation.importers.messages import WireMessage, last_question, message_of
from langgraph_prefetch.evaluation.importers.reader import WRITTEN_AS_TEXT, Reader, Source
from langgraph_prefetch.evaluation.importers.times import moment_in
from langgraph_prefetch.evaluation.importers.values import TracedRun
from langgraph_prefetch.events import Event

_MODEL = ("on_chat_model_", "on_llm_")
_TOOL = "on_tool_"


def unwrapped(record: Any) -> tuple[Mapping[str, Any], float | None] | None:
    """An event, and its moment; None if it is none."""
    if not isinstance(record, Mapping):
        return None
    moment = moment_in(record)
    event = record.get("event")
    if isinstance(event, Mapping):
        record, moment = event, moment if moment is not None else moment_in(event)
    name = record.get("event")
    found = isinstance(name, str) and name.startswith("on_") and isinstance(record.get("data"), Mapping)
    return (record, moment) if found else None


@dataclass(slots=True)
class _Agent:
    """What one agent's run is made of, while it is read."""

    models: dict[str, ModelCall] = field(default_factory=dict)
    tools: dict[str, ToolRun] = field(default_factory=dict)


@dataclass(slots=True)
class _Recording:
    source: Source
    agents: dict[str, _Agent] = field(default_factory=dict)
    roots: list[str] = field(default_factory=list)
    owners: dict[str, str] = field(default_factory=dict)
    open_tools: dict[str, str] = field(default_factory=dict)
    order: int = 0

    def take(self, event: Mapping[str, Any], moment: float | None, line: int) -> None:
        name, run_id, data = str(event["event"]), str(event.get("run_id") or ""), event["data"]
        root = self._root(event, run_id)
        if name == "on_chain_end" and self.roots and self.roots[-1] == run_id:
            self.roots.pop()
        model = next((name.removeprefix(each) for each in _MODEL if name.startswith(each)), None)
        if model is None and not name.startswith(_TOOL):
            return
        self.order += 1
        agent = self.agents.setdefault(self.owners.setdefault(run_id, self._owner(event, root)), _Agent())
        if model is not None:
            self._model(agent, run_id, model, data, moment, line)
        else:
            self._tool(agent, run_id, event, name.removeprefix(_TOOL), data, moment)

    def _root(self, event: Mapping[str, Any], run_id: str) -> str:
        parents = event.get("parent_ids")
        if isinstance(parents, list) and parents:
            return str(parents[0])
        # v1 names no parents: the first event is that of the whole graph, up to its own end
        if event["event"] == "on_chain_start" and not self.roots:
            self.roots.append(run_id)
        return self.roots[-1] if self.roots else "all"

    def _owner(self, event: Mapping[str, Any], root: str) -> str:
        """The tool that this ran in (a sub-agent's), else the whole run."""
        parents = event.get("parent_ids")
        for parent in reversed(parents if isinstance(parents, list) else []):
            if str(parent) in self.open_tools:
                return f"tool {parent}"
        metadata = event.get("metadata")
        namespace = str(metadata.get("langgraph_checkpoint_ns") or "") if isinstance(metadata, Mapping) else ""
        for tool, place in self.open_tools.items():
            if place and namespace.startswith(place) and str(event.get("run_id")) != tool:
                return f"tool {tool}"
        return f"run {root}"

    def _model(
        self, agent: _Agent, run_id: str, what: str, data: Mapping[str, Any], moment: float | None, line: int
    ) -> None:
        call = agent.models.get(run_id)
        if call is None:
            call = agent.models[run_id] = ModelCall(order=self.order)
        match what:
            case "start":
                call.began, call.question = moment, last_question(_asked(data.get("input")))
            case "stream":
                self._piece(call, data.get("chunk"), moment, line)
            case "end":
                call.ended, call.message = moment, _said(data.get("output"))
                call.question = call.question or last_question(_asked(data.get("input")))

    def _piece(self, call: ModelCall, chunk: Any, moment: float | None, line: int) -> None:
        message = message_of(chunk)
        if message is None:
            text = isinstance(chunk, str)
            self.source.skipped.add(line, WRITTEN_AS_TEXT if text else "a chunk of no known shape")
            return
        deltas = message.deltas
        call.deltas.extend(deltas)
        call.moments.extend([moment] * len(deltas))

    def _tool(
        self,
        agent: _Agent,
        run_id: str,
        event: Mapping[str, Any],
        what: str,
        data: Mapping[str, Any],
        moment: float | None,
    ) -> None:
        run = agent.tools.get(run_id)
        if run is None:
            run = agent.tools[run_id] = ToolRun(order=self.order, name=str(event.get("name") or ""))
        arguments = data.get("input")
        if isinstance(arguments, Mapping):
            run.arguments = arguments
        if what == "start":
            run.began = moment
            metadata = event.get("metadata")
            place = metadata.get("langgraph_checkpoint_ns") if isinstance(metadata, Mapping) else None
            self.open_tools[run_id] = str(place or "")
        elif what in ("end", "error"):
            self.open_tools.pop(run_id, None)
            run.ended = moment
            message = message_of(data.get("output"))
            if message is not None:
                run.call_id, run.result = message.tool_call_id, message.text
            elif what == "end" and data.get("output") is not None:
                output = data["output"]
                run.result = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)


def _recognises(record: Any) -> bool:
    return unwrapped(record) is not None


def _read(source: Source) -> tuple[tuple[TracedRun, ...], tuple[Event, ...]]:
    recording = _Recording(source)
    for record in source.records():
        found = unwrapped(record.value)
        if found is None:
            source.skipped.add(record.line, "no event of astream_events")
        else:
            recording.take(*found, record.line)
    made = (assembled(tuple(agent.models.values()), tuple(agent.tools.values())) for agent in recording.agents.values())
    return tuple(each for each in made if each is not None), ()


def _asked(value: Any) -> list[WireMessage]:
    found = value.get("messages") if isinstance(value, Mapping) else value
    if isinstance(found, list) and found and isinstance(found[0], list) and message_of(found[0]) is None:
        found = found[0]
    return [each for one in (found if isinstance(found, list) else ()) if (each := message_of(one)) is not None]


def _said(output: Any) -> WireMessage | None:
    """v2 gives the message, v1 the whole result around it."""
    generations = output.get("generations") if isinstance(output, Mapping) else None
    while isinstance(generations, list) and generations:
        generations = generations[0]
    message = message_of(generations.get("message") if isinstance(generations, Mapping) else output)
    return message if message is not None and message.role == "ai" else None


STREAM_EVENTS = Reader(
    name="stream-events",
    looks_like='events of astream_events: {"event": "on_chat_model_stream", "run_id", "data", …}',
    recognises=_recognises,
    read=_read,
)
