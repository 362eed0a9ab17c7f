"""The flow as its users meet it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from langgraph_prefetch.errors import FlowError, did_you_mean
from langgraph_prefetch.events import Event
from langgraph_prefetch.serving.flow.checks import check_flow
from langgraph_prefetch.serving.flow.declared import StageConstraints, declared
from langgraph_prefetch.serving.flow.measured import measured
from langgraph_prefetch.serving.flow.stored import of_json, to_json
from langgraph_prefetch.serving.flow.structure import DrawableGraph, Structure, structure_of
from langgraph_prefetch.serving.flow.text import flow_text, mermaid
from langgraph_prefetch.serving.flow.values import FlowValues, Stage
from langgraph_prefetch.serving.flow.visits import seen_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow(FlowValues):
    """Stages and edges of an agent with what was measured of them. ``print(flow)`` shows both.

    One can be written by hand, measured on runs (`from_graph`, `from_events`), or read back (`from_json`).
    """

    @classmethod
    def from_graph(
        cls,
        graph: DrawableGraph,
        events: Iterable[Event],
        *,
        name: str | None = None,
        constraints: Mapping[str, StageConstraints] | None = None,
        smoothing: float = 0.0,
    ) -> Flow:
        """The flow of a compiled graph, as its recorded runs went.

        Probabilities are shares of the moves that were seen; a stage's amplification is the moves out of it for each
        visit, so that a fan-out has more than 1 and each branch that a join waits for less. What had to be assumed is
        in `notes`: edges of a stage that was never visited are equally likely, an edge never taken from one that was
        has the probability 0.

        Args:
            graph: loops and conditional edges included. Constraints that `stage` put on its nodes' functions count.
            events: with the `StageVisited` of a `VisitRecorder` or of pools; others are passed over.
            name: of the flow; that of the graph if None.
            constraints: stage -> what a plan must keep to; comes before what the graph says.
            smoothing: visits that each edge of the graph is taken to have had besides those seen (1: Laplace's rule).

        Raises:
            FlowError: no compiled graph, no visits in the events, or constraints for what is no stage.
        """
        structure = structure_of(graph)
        return cls._measured(structure, events, name, dict(constraints or {}), smoothing)

    @classmethod
    def from_events(
        cls,
        events: Iterable[Event],
        *,
        stages: Sequence[Any] = (),
        name: str = "flow",
        constraints: Mapping[str, StageConstraints] | None = None,
    ) -> Flow:
        """The flow of stages that no graph describes: every move that was seen is an edge.

        Args:
            events: as for `from_graph`.
            stages: functions or classes that `stage` marks; they are part of the flow even if nobody visited them.
            name: of the flow.
            constraints: come before what the marks say.

        Raises:
            FlowError: as for `from_graph`, or something in ``stages`` that is not marked.
        """
        marks = [declared(each) for each in stages]
        for target, mark in zip(stages, marks, strict=True):
            if mark is None:
                raise FlowError(f"{getattr(target, '__name__', type(target).__name__)!r} is not marked with @stage(…)")
        found = {each.name: each.constraints for each in marks if each is not None}
        structure = Structure(name=name, stages=tuple(found), edges={}, constraints=found)
        return cls._measured(structure, events, name, dict(constraints or {}), 0.0)

    @classmethod
    def from_json(cls, text: str) -> Flow:
        """What `to_json` wrote.

        Raises:
            FlowError: no JSON, another version, or no flow.
        """
        return cls._of(of_json(text))

    def to_json(self) -> str:
        """All of it, times of single visits included."""
        return json.dumps(to_json(self), ensure_ascii=False)

    def as_json(self) -> dict[str, Any]:
        """The same as values."""
        return to_json(self)

    def mermaid(self) -> str:
        """A flowchart; edges that the graph decides on are dotted, those never taken are left out."""
        return mermaid(self)

    def stage(self, name: str) -> Stage:
        """The stage of that name.

        Raises:
            FlowError: there is none.
        """
        for each in self.stages:
            if each.name == name:
                return each
        names = [each.name for each in self.stages]
        raise FlowError(f"flow {self.name!r} has no stage {name!r}.{did_you_mean(name, names)}")

    def __str__(self) -> str:
        return flow_text(self)

    @classmethod
    def _measured(
        cls,
        structure: Structure,
        events: Iterable[Event],
        name: str | None,
        constraints: Mapping[str, StageConstraints],
        smoothing: float,
    ) -> Flow:
        if name is not None:
            structure = Structure(
                name=name, stages=structure.stages, edges=structure.edges, constraints=structure.constraints
            )
        seen = seen_in(events, structure.edges or None)
        flow = cls._of(measured(structure, seen, constraints, smoothing))
        check_flow(flow)
        return flow

    @classmethod
    def _of(cls, values: FlowValues) -> Flow:
        return cls(**{each.name: getattr(values, each.name) for each in fields(FlowValues)})
