"""Four flows of retrieval-augmented generation, with service times that are stated, not measured.

The shapes are the published ones (vanilla; corrective, arXiv:2401.15884; self, arXiv:2310.11511; adaptive,
arXiv:2403.14403). The times are those of a small model on one accelerator and a search on a processor, round numbers;
the variations are those of texts of different length. What an agent of yours takes is measured: `Flow.from_graph`.
"""

from __future__ import annotations

from langgraph_prefetch.serving.flow.values import END, START, Edge, FlowValues, ServiceTime, Stage
from langgraph_prefetch.serving.queueing.expectations import expected

CPU, GPU = {"cpu": 1.0}, {"gpu": 1.0}


def stage(name: str, mean: float, variation: float, resources: dict[str, float], cold: float = 0.0) -> Stage:
    """A stage of one visit at a time."""
    return Stage(
        name=name,
        resources=resources,
        service=ServiceTime(mean=mean, variation=variation),
        cold_start_seconds=cold,
    )


def edges(*triples: tuple[str, str, float]) -> tuple[Edge, ...]:
    """Source, target, probability."""
    return tuple(Edge(source=source, target=target, probability=p) for source, target, p in triples)


RETRIEVE = stage("retrieve", 0.15, 0.3, CPU, cold=2.0)
GENERATE = stage("generate", 0.80, 0.6, GPU, cold=20.0)

VANILLA = FlowValues(
    name="vanilla",
    stages=(RETRIEVE, GENERATE),
    edges=edges((START, "retrieve", 1.0), ("retrieve", "generate", 1.0), ("generate", END, 1.0)),
)
CORRECTIVE = FlowValues(
    name="corrective",
    stages=(
        RETRIEVE,
        stage("grade", 1.20, 0.4, GPU, cold=20.0),  # every passage is judged by a model
        stage("rewrite", 0.30, 0.4, GPU, cold=20.0),
        stage("web_search", 0.50, 0.6, CPU, cold=1.0),
        GENERATE,
    ),
    edges=edges(
        (START, "retrieve", 1.0),
        ("retrieve", "grade", 1.0),
        ("grade", "generate", 0.6),
        ("grade", "rewrite", 0.4),
        ("rewrite", "web_search", 1.0),
        ("web_search", "generate", 1.0),
        ("generate", END, 1.0),
    ),
)
SELF = FlowValues(
    name="self",
    stages=(RETRIEVE, GENERATE, stage("reflect", 0.40, 0.4, GPU, cold=20.0)),
    edges=edges(
        (START, "retrieve", 1.0),
        ("retrieve", "generate", 1.0),
        ("generate", "reflect", 1.0),
        ("reflect", END, 0.65),
        ("reflect", "retrieve", 0.25),
        ("reflect", "generate", 0.10),
    ),
)
ADAPTIVE = FlowValues(
    name="adaptive",
    stages=(
        stage("classify", 0.10, 0.2, GPU, cold=10.0),
        RETRIEVE,
        stage("reason", 0.50, 0.5, GPU, cold=20.0),
        GENERATE,
    ),
    edges=edges(
        (START, "classify", 1.0),
        ("classify", "generate", 0.3),  # known without a search
        ("classify", "retrieve", 0.7),
        ("retrieve", "generate", 0.5),
        ("retrieve", "reason", 0.5),
        ("reason", "retrieve", 0.6),  # one more hop
        ("reason", "generate", 0.4),
        ("generate", END, 1.0),
    ),
)
FLOWS = (VANILLA, CORRECTIVE, SELF, ADAPTIVE)


def balanced(flow: FlowValues, replicas: int) -> dict[str, int]:
    """So many replicas, each added where the busiest stage is: no stage is much busier than another."""
    work = busy_seconds(flow)
    found = dict.fromkeys(work, 1)
    while sum(found.values()) < replicas:
        found[max(work, key=lambda name: work[name] / found[name])] += 1
    return found


def capacity(flow: FlowValues, replicas: dict[str, int]) -> float:
    """Requests a second at which the busiest stage is busy all the time."""
    return min(replicas[name] / seconds for name, seconds in busy_seconds(flow).items() if seconds)


def busy_seconds(flow: FlowValues) -> dict[str, float]:
    """Stage -> seconds of a replica that one request takes on average."""
    visits = expected(flow).visits
    return {each.name: visits[each.name] * (each.service.mean if each.service else 0.0) for each in flow.stages}
