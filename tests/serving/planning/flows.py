"""Small flows to plan for."""

from itertools import pairwise
from typing import Any

from langgraph_prefetch.serving.flow import END, START, Edge, Flow, ServiceTime, Stage


def stage(name: str, seconds: float | None, resources: dict[str, float] | None = None, **fields: Any) -> Stage:
    service = None if seconds is None else ServiceTime(mean=seconds)
    return Stage(name=name, resources={"cpu": 1} if resources is None else resources, service=service, **fields)


def flow(stages: tuple[Stage, ...], *edges: tuple[str, str, float], name: str = "small") -> Flow:
    return Flow(
        name=name,
        stages=stages,
        edges=tuple(Edge(source=source, target=target, probability=p) for source, target, p in edges),
    )


def chain(*stages: Stage) -> Flow:
    names = [START, *(each.name for each in stages), END]
    return flow(stages, *((source, target, 1.0) for source, target in pairwise(names)))


def corrective(again: float = 0.5, **fields: Any) -> Flow:
    """Retrieve, grade, and with probability ``again`` rewrite and go round once more."""
    return flow(
        (stage("retrieve", 0.1), stage("grade", 0.4, **fields), stage("rewrite", 0.2), stage("generate", 0.3)),
        (START, "retrieve", 1.0),
        ("retrieve", "grade", 1.0),
        ("grade", "rewrite", again),
        ("grade", "generate", 1 - again),
        ("rewrite", "retrieve", 1.0),
        ("generate", END, 1.0),
    )
