"""Runs that LangSmith exported: through its API (``list_runs``), in bulk as rows, or as trees with ``child_runs``.

A run has ``id``, ``parent_run_id`` (or ``parent_run_ids`` from the root down, or ``dotted_order``), ``trace_id``,
``run_type``, ``name``, ``inputs``, ``outputs``, ``start_time``, ``end_time``, and where the model streamed a
``new_token`` event or ``first_token_time``. In rows of a bulk export the objects are JSON strings.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langgraph_prefetch.evaluation.importers.assembling import ModelCall, ToolRun, assembled
from langgraph_prefetch.evaluation.importers.messages import WireMessage, last_question, message_of
from langgraph_prefetch.evaluation.importers.reader import Reader, Source
from langgraph_prefetch.evaluation.importers.times import seconds_of
from langgraph_prefetch.evaluation.importers.values import TracedRun
from langgraph_prefetch.events import Event

_HOLDERS = ("runs", "traces", "items", "data")
"""Under which names exports keep a list of runs."""
_MAX_PARENTS = 64


@dataclass(slots=True, kw_only=True)
class _Run:
    id: str
    parent: str | None
    trace: str
    kind: str
    name: str
    inputs: Mapping[str, Any] = field(repr=False)
    outputs: Any = field(repr=False)
    began: float | None
    first: float | None
    ended: float | None
    line: int


def _recognises(record: Any) -> bool:
    if isinstance(record, Mapping):
        if "run_type" in record and ("id" in record or "run_id" in record):
            return True
        held = next((record[name] for name in _HOLDERS if isinstance(record.get(name), list)), None)
        return held is not None and _recognises(held)
    return isinstance(record, list) and bool(record) and _recognises(record[0])


def _read(source: Source) -> tuple[tuple[TracedRun, ...], tuple[Event, ...]]:
    runs: dict[str, _Run] = {}
    for record in source.records():
        for value in _flat(record.value, None):
            if not isinstance(value, Mapping) or "run_type" not in value:
                source.skipped.add(record.line, "no run of LangSmith")
            elif (run := _run(value, record.line)) is None:
                source.skipped.add(record.line, "a run without an id")
            elif run.kind in ("llm", "tool") or run.id not in runs:
                runs[run.id] = run
    groups: dict[str, list[_Run]] = {}
    for run in runs.values():
        if run.kind in ("llm", "tool"):
            groups.setdefault(_agent(run, runs), []).append(run)
    made = (_assembled(group, source) for group in groups.values())
    return tuple(each for each in made if each is not None), ()


def _flat(value: Any, parent: str | None) -> Iterator[Any]:
    """A run and those below it; or the runs of a list or an export."""
    if isinstance(value, list):
        for each in value:
            yield from _flat(each, parent)
        return
    if not isinstance(value, Mapping):
        yield value
        return
    if "run_type" not in value and (held := [value[name] for name in _HOLDERS if isinstance(value.get(name), list)]):
        yield from _flat(held[0], parent)
        return
    if parent is not None and not value.get("parent_run_id"):
        value = {**value, "parent_run_id": parent}
    yield value
    children = _object(value.get("child_runs"))
    if isinstance(children, list):
        yield from _flat(children, str(value.get("id") or value.get("run_id") or "") or None)


def _run(value: Mapping[str, Any], line: int) -> _Run | None:
    found = value.get("id") or value.get("run_id")
    if not isinstance(found, str | int):
        return None
    inputs = _object(value.get("inputs"))
    return _Run(
        id=str(found),
        parent=_parent(value),
        trace=str(value.get("trace_id") or ""),
        kind=str(value.get("run_type")).lower(),
        name=str(value.get("name") or ""),
        inputs=inputs if isinstance(inputs, Mapping) else {},
        outputs=_object(value.get("outputs")),
        began=seconds_of(value.get("start_time")),
        first=_first_token(value),
        ended=seconds_of(value.get("end_time")),
        line=line,
    )


def _parent(value: Mapping[str, Any]) -> str | None:
    """The run right above, however the export says it: newer clients give all above it, the root first."""
    if parent := value.get("parent_run_id"):
        return str(parent)
    above = _object(value.get("parent_run_ids"))
    if isinstance(above, list) and above:
        return str(above[-1])
    order = value.get("dotted_order")
    # Moments and ids of the runs down to this one: <moment>Z<id>.<moment>Z<id>
    way = order.split(".") if isinstance(order, str) else []
    return way[-2].partition("Z")[2] or None if len(way) > 1 else None


def _object(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return None
    return value


def _first_token(value: Mapping[str, Any]) -> float | None:
    given = seconds_of(value.get("first_token_time"))
    if given is not None:
        return given
    events = _object(value.get("events"))
    times = (
        seconds_of(each.get("time"))
        for each in (events if isinstance(events, list) else ())
        if isinstance(each, Mapping) and each.get("name") == "new_token"
    )
    return min((each for each in times if each is not None), default=None)


def _agent(run: _Run, runs: Mapping[str, _Run]) -> str:
    """Whose run this is: that of the tool it ran in (a sub-agent), else of the whole trace."""
    top, parent = run, run.parent
    for _ in range(_MAX_PARENTS):
        above = runs.get(parent) if parent else None
        if above is None:
            break
        if above.kind == "tool":
            return f"tool {above.id}"
        top, parent = above, above.parent
    return f"trace {run.trace or top.parent or top.id}"


def _assembled(group: Sequence[_Run], source: Source) -> TracedRun | None:
    # Runs without times keep the order of the file; a tool starts after the model that called it.
    ordered = sorted(group, key=lambda each: (each.began is not None, each.began or 0.0))
    models, tools = [], []
    for order, run in enumerate(ordered):
        if run.kind == "tool":
            tools.append(_tool(order, run))
        elif (message := _said(run.outputs)) is not None:
            models.append(_model(order, run, message))
        else:
            source.skipped.add(run.line, "a model run without a message among its outputs")
    return assembled(models, tools)


def _model(order: int, run: _Run, message: WireMessage) -> ModelCall:
    return ModelCall(
        order=order,
        question=last_question(_asked(run.inputs)),
        message=message,
        began=run.began,
        first=run.first,
        ended=run.ended,
    )


def _tool(order: int, run: _Run) -> ToolRun:
    output = run.outputs.get("output", run.outputs) if isinstance(run.outputs, Mapping) else run.outputs
    message = message_of(output)
    arguments = _object(run.inputs.get("input")) if set(run.inputs) == {"input"} else run.inputs
    return ToolRun(
        order=order,
        name=run.name,
        arguments=arguments if isinstance(arguments, Mapping) else {"input": arguments},
        call_id=message.tool_call_id if message is not None else None,
        began=run.began,
        ended=run.ended,
        result=message.text if message is not None else _plain(output),
    )


def _plain(output: Any) -> str | None:
    return output if output is None or isinstance(output, str) else json.dumps(output, ensure_ascii=False)


def _asked(inputs: Mapping[str, Any]) -> list[WireMessage]:
    found = inputs.get("messages")
    if isinstance(found, list) and found and isinstance(found[0], list) and message_of(found[0]) is None:
        found = found[0]
    return [each for value in (found if isinstance(found, list) else ()) if (each := message_of(value)) is not None]


def _said(outputs: Any) -> WireMessage | None:
    """The message of a model run: LangChain's generations, OpenAI's choices, or a message or list of them."""
    if not isinstance(outputs, Mapping):
        return None
    inner = outputs.get("output")
    within = _candidates(inner) if isinstance(inner, Mapping) else ()
    for candidate in (*_candidates(outputs), inner, outputs, *within):
        message = message_of(candidate)
        if message is not None and message.role == "ai":
            return message
    return None


def _candidates(outputs: Mapping[str, Any]) -> Iterator[Any]:
    generations = outputs.get("generations")
    while isinstance(generations, list) and generations:
        generations = generations[0]
    if isinstance(generations, Mapping):
        yield generations.get("message")
        if isinstance(generations.get("text"), str):
            yield {"role": "assistant", "content": generations["text"]}
    choices = outputs.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        yield choices[0].get("message")
    yield outputs.get("message")
    messages = outputs.get("messages")
    while isinstance(messages, list) and messages:
        last = messages[-1]
        if not isinstance(last, list) or message_of(last) is not None:
            yield last
            return
        messages = last


LANGSMITH = Reader(
    name="langsmith",
    looks_like='runs of LangSmith: {"id", "run_type", "parent_run_id", "trace_id", "inputs", "outputs", …}',
    recognises=_recognises,
    read=_read,
)
