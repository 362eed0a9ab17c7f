"""A flow as JSON, and back."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from langgraph_prefetch.errors import FlowError
from langgraph_prefetch.serving.flow.checks import check_flow
from langgraph_prefetch.serving.flow.values import Edge, FlowValues, Placement, ServiceTime, Stage

VERSION = 1


def to_json(flow: FlowValues) -> dict[str, Any]:
    """The flow as values of JSON; ``version`` goes up when the meaning of a key changes."""
    return {
        "version": VERSION,
        "name": flow.name,
        "stages": [
            {each.name: _plain(getattr(stage, each.name)) for each in dataclasses.fields(Stage)}
            for stage in flow.stages
        ],
        "edges": [dataclasses.asdict(edge) for edge in flow.edges],
        "notes": list(flow.notes),
    }


def of_json(text: str) -> FlowValues:
    """The flow that `to_json` wrote. Keys that are not known are passed over; those that are missing have defaults.

    Raises:
        FlowError: no JSON, another version, or no flow.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FlowError(f"not a flow: no JSON ({type(error).__name__})") from None
    if not isinstance(found, dict) or not isinstance(found.get("version"), int):
        raise FlowError("not a flow: no object with a version")
    if found["version"] != VERSION:
        raise FlowError(
            f"a flow of version {found['version']}; this release reads version {VERSION}: write it again with this one"
        )
    try:
        flow = FlowValues(
            name=str(found["name"]),
            stages=tuple(_stage(each) for each in found["stages"]),
            edges=tuple(Edge(**_known(Edge, each)) for each in found["edges"]),
            notes=tuple(map(str, found.get("notes", ()))),
        )
        check_flow(flow)
    except (KeyError, TypeError, AttributeError) as error:
        raise FlowError(f"not a flow: {error}") from None
    return flow


def _stage(found: Mapping[str, Any]) -> Stage:
    known = _known(Stage, found)
    if known.get("service") is not None:
        service = _known(ServiceTime, known["service"])
        known["service"] = ServiceTime(**{**service, "samples": tuple(service.get("samples", ()))})
    known["placements"] = tuple(Placement(**_known(Placement, each)) for each in known.get("placements", ()))
    return Stage(**known)


def _known(kind: type[Any], found: Mapping[str, Any]) -> dict[str, Any]:
    names = {each.name for each in dataclasses.fields(kind)}
    return {name: value for name, value in found.items() if name in names}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    return [_plain(each) for each in value] if isinstance(value, tuple) else value
