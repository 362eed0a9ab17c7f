"""What stages and edges must be to be a flow."""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose, isfinite

from langgraph_prefetch.errors import FlowError, did_you_mean
from langgraph_prefetch.serving.flow.values import END, START, Edge, FlowValues, Stage

TOLERANCE = 1e-6


def check_flow(flow: FlowValues) -> None:
    """Nothing, if every stage and edge is sound and the edges of every stage that requests come to add up to 1.

    Raises:
        FlowError: they do not; the message names the stage or edge.
    """
    names = [each.name for each in flow.stages]
    if not names:
        raise FlowError(f"flow {flow.name!r} has no stages")
    twice = [name for place, name in enumerate(names) if name in names[:place] or name in (START, END)]
    if twice:
        raise FlowError(f"flow {flow.name!r}: stage {twice[0]!r} is there twice, or named like an end")
    for edge in flow.edges:
        for end in (edge.source, edge.target):
            if end not in (START, END, *names):
                raise FlowError(f"flow {flow.name!r}: an edge names {end!r}, no stage.{did_you_mean(end, names)}")
        if not (isfinite(edge.probability) and -TOLERANCE <= edge.probability <= 1 + TOLERANCE):
            raise FlowError(
                f"flow {flow.name!r}: {edge.source} → {edge.target} has the probability {edge.probability}; "
                "it lies between 0 and 1"
            )
    for each in flow.stages:
        _check_stage(flow.name, each)
    for source in sorted({START} | reached(flow.edges) - {END}):
        total = sum(edge.probability for edge in flow.edges if edge.source == source)
        if not isclose(total, 1.0, abs_tol=TOLERANCE):
            raise FlowError(
                f"flow {flow.name!r}: the edges from {source!r} add up to {total:.6g}; they must add up to 1, with an "
                f"edge to {END!r} where requests leave"
            )


def reached(edges: Sequence[Edge]) -> frozenset[str]:
    """Where requests come to, by edges that are taken at all; the end included."""
    found, waiting = {START}, [START]
    while waiting:
        source = waiting.pop()
        for edge in edges:
            if edge.source == source and edge.probability > 0 and edge.target not in found:
                found.add(edge.target)
                waiting.append(edge.target)
    return frozenset(found - {START})


def _check_stage(flow: str, stage: Stage) -> None:
    where = f"flow {flow!r}: stage {stage.name!r}"
    service = stage.service
    for what, number in (
        ("service time", service.mean if service else 0.0),
        ("variation", service.variation if service else 0.0),
        ("amplification", stage.amplification),
        ("cold start", stage.cold_start_seconds),
        ("price", stage.price_per_visit),
        ("least number of replicas", stage.min_replicas),
        *((f"time on {each.name!r}", each.mean_seconds) for each in stage.placements),
        *((f"share of {name!r}", amount) for name, amount in stage.resources.items()),
    ):
        if not (isfinite(number) and number >= 0):
            raise FlowError(f"{where} has a {what} of {number}; it is a number, 0 or more")
    if stage.concurrency < 1 or any(each.concurrency < 1 for each in stage.placements):
        raise FlowError(f"{where} serves {stage.concurrency} visits at once; it is 1 at least")
