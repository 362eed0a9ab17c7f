"""What a flow says of a request on average, before any request was seen: a walk through it as a Markov chain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from langgraph_prefetch.errors import ConfigurationError, MissingExtraError
from langgraph_prefetch.serving.flow.values import END, START, FlowValues

try:
    import numpy as np
except ImportError as error:
    raise MissingExtraError(error.name or "numpy", "serving") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """Means for each stage.

    Attributes:
        remaining_seconds: service from entering the stage to the end of the flow, branches of a fan-out added up.
        visits: how often one request comes by.
        returns: how likely a request comes back after it left; at most 1.
    """

    remaining_seconds: Mapping[str, float]
    visits: Mapping[str, float]
    returns: Mapping[str, float]


def expected(flow: FlowValues) -> Expected:
    """The means: with M the requests that go from stage to stage for each that enters, N = (I − M)⁻¹.

    N·s is the service that remains, the row of the entry times N the visits, and 1 − 1/N_ii the return to i (Kemeny and
    Snell, Finite Markov Chains). A stage without measurements counts as taking no time.

    Raises:
        ConfigurationError: requests multiply or go round for ever, so that no mean exists.
    """
    names = [each.name for each in flow.stages]
    place = {name: number for number, name in enumerate(names)}
    amplification = {each.name: each.amplification for each in flow.stages}
    onward, entry = np.zeros((len(names), len(names))), np.zeros(len(names))
    for edge in flow.edges:
        if edge.target == END:
            continue
        if edge.source == START:
            entry[place[edge.target]] += edge.probability
        else:
            onward[place[edge.source], place[edge.target]] += edge.probability * amplification[edge.source]
    if names and max(abs(np.linalg.eigvals(onward))) >= 1 - 1e-9:
        raise ConfigurationError(
            f"flow {flow.name!r}: requests go round for ever or multiply without end; a loop needs a way out: an edge "
            "that leaves it with a probability above 0"
        )
    fundamental = np.linalg.inv(np.eye(len(names)) - onward)
    service = np.array([each.service.mean if each.service else 0.0 for each in flow.stages])
    returns = np.clip(1 - 1 / np.diag(fundamental), 0.0, 1.0)
    return Expected(
        remaining_seconds=dict(zip(names, (fundamental @ service).tolist(), strict=True)),
        visits=dict(zip(names, (entry @ fundamental).tolist(), strict=True)),
        returns=dict(zip(names, returns.tolist(), strict=True)),
    )
