"""A flow out of a structure and what was seen on real runs. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from statistics import fmean, median, pstdev

from langgraph_prefetch.errors import FlowError, did_you_mean
from langgraph_prefetch.serving.flow.declared import StageConstraints, planned_stage
from langgraph_prefetch.serving.flow.structure import Structure
from langgraph_prefetch.serving.flow.values import END, START, Edge, FlowValues, ServiceTime, Stage
from langgraph_prefetch.serving.flow.visits import Move, Seen

MAX_SAMPLES = 2_000
FEW_VISITS = 10
ENTRY = "__fork__"
"""A stage that takes no time, where a graph begins with several nodes at once."""


def measured(
    structure: Structure, seen: Seen, constraints: Mapping[str, StageConstraints], smoothing: float
) -> FlowValues:
    """Put them together; what had to be assumed is in the notes.

    Raises:
        FlowError: constraints for what is no stage, a smoothing below 0, or no visits at all.
    """
    if not (isfinite(smoothing) and smoothing >= 0):
        raise FlowError(f"smoothing is {smoothing}; it is a number of visits, 0 or more")
    visited = [name for name in seen.seconds if name not in structure.stages]
    names = (*structure.stages, *visited)
    for name in constraints:
        if name not in names:
            raise FlowError(f"constraints for {name!r}, which is no stage.{did_you_mean(name, names)}")
    if not seen.requests:
        raise FlowError(
            "the events hold no visits of stages: record runs with VisitRecorder (config={'callbacks': [recorder]}), "
            "or through pools"
        )
    given = {**structure.constraints, **constraints}
    notes = _notes(structure, seen, names, given, visited)
    edges = _edges(structure, seen, names, smoothing, notes)
    stages = [_stage(name, seen, edges, given.get(name), notes) for name in names]
    starts = sum(count for (source, _), count in seen.moves.items() if source == START)
    if starts > seen.requests * (1 + 1e-9):
        edges = [_from(edge, ENTRY) if edge.source == START else edge for edge in edges]
        edges.insert(0, Edge(source=START, target=ENTRY, probability=1.0, taken=seen.requests))
        stages.insert(0, _fork(starts / seen.requests, seen.requests))
    return FlowValues(name=structure.name, stages=tuple(stages), edges=tuple(edges), notes=tuple(notes))


def _edges(structure: Structure, seen: Seen, names: Sequence[str], smoothing: float, notes: list[str]) -> list[Edge]:
    moves: dict[Move, float] = dict.fromkeys(structure.edges, 0.0)
    for move, count in seen.moves.items():
        moves[move] = moves.get(move, 0.0) + count
    edges = []
    for source in (START, *names):
        leaving = {target: count for (each, target), count in moves.items() if each == source} or {END: 0.0}
        total = sum(leaving.values())
        if total == 0 and len(leaving) > 1:
            notes.append(f"{source} was never left: its {len(leaving)} edges are taken to be equally likely")
        for target, count in leaving.items():
            weight = count + smoothing if total else 1.0
            whole = total + smoothing * len(leaving) if total else float(len(leaving))
            if total and not count:
                bound = "" if smoothing else f"; with 95 % confidence below {min(1.0, 3 / total):.2g}"
                notes.append(
                    f"{source} → {target} was never taken in {total:g}: its probability is {weight / whole:.2g}{bound}"
                )
            edges.append(
                Edge(
                    source=source,
                    target=target,
                    probability=weight / whole,
                    taken=round(count),
                    conditional=structure.edges.get((source, target), len(leaving) > 1),
                )
            )
    return edges


def _stage(
    name: str, seen: Seen, edges: Sequence[Edge], constraints: StageConstraints | None, notes: list[str]
) -> Stage:
    seconds = seen.seconds.get(name, [])
    service, cold = _service(seconds)
    stage = planned_stage(name, constraints, service)
    if constraints is None or constraints.cold_start_seconds is None:
        if cold:
            notes.append(f"the first visit of {name} took {cold:.3g} s more than the others: taken for its cold start")
    else:
        cold = constraints.cold_start_seconds
    left = sum(count for (source, _), count in seen.moves.items() if source == name)
    return Stage(
        name=name,
        resources=stage.resources,
        service=stage.service,
        concurrency=stage.concurrency,
        amplification=left / len(seconds) if seconds else 1.0,
        cold_start_seconds=cold,
        price_per_visit=stage.price_per_visit,
        stateful=stage.stateful,
        min_replicas=stage.min_replicas,
        visits=len(seconds),
        placements=stage.placements,
    )


def _service(seconds: Sequence[float]) -> tuple[ServiceTime | None, float]:
    """The time of a visit, and what the first one took beyond, if it stands out among enough of them."""
    if not seconds:
        return None, 0.0
    later, cold = seconds[1:], 0.0
    if len(seconds) >= FEW_VISITS and seconds[0] > 2 * max(later):
        seconds, cold = later, seconds[0] - median(later)
    mean = fmean(seconds)
    every = -(-len(seconds) // MAX_SAMPLES)
    variation = pstdev(seconds) / mean if mean else 0.0
    return ServiceTime(mean=mean, variation=variation, samples=tuple(seconds[::every])), cold


def _notes(
    structure: Structure,
    seen: Seen,
    names: Sequence[str],
    given: Mapping[str, StageConstraints],
    visited: Sequence[str],
) -> list[str]:
    notes = []
    plain = [name for name in names if name not in given or given[name].resources is None]
    if plain:
        notes.append(f"no resources were declared for {', '.join(plain)}: one cpu for each replica")
    missing = [name for name in names if name not in seen.seconds]
    if missing:
        notes.append(f"never visited: {', '.join(missing)}")
    if structure.edges and visited:
        notes.append(f"visited, and not in the graph: {', '.join(visited)}")
    for name, failed in seen.failed.items():
        if failed:
            notes.append(f"{failed} of {len(seen.seconds[name])} visits of {name} failed; their time counts")
    if seen.left_out:
        notes.append(f"{seen.left_out} visits beyond the most that are read were left out")
    return notes


def _from(edge: Edge, source: str) -> Edge:
    return Edge(
        source=source,
        target=edge.target,
        probability=edge.probability,
        taken=edge.taken,
        conditional=edge.conditional,
    )


def _fork(branches: float, requests: int) -> Stage:
    return Stage(
        name=ENTRY,
        resources={},
        service=ServiceTime(mean=0.0),
        amplification=branches,
        visits=requests,
    )
