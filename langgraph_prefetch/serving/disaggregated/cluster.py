"""What a simulated cluster of prefill and decode nodes consists of, and how it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from langgraph_prefetch.errors import SimulationError
from langgraph_prefetch.serving.disaggregated.choice import GATES, Gates
from langgraph_prefetch.serving.disaggregated.hardware import NodeKind, ServedModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading:
    """How caches reach the prefill GPUs. The fields are independent, so that each can be measured by itself.

    Attributes:
        layerwise: a layer's cache is loaded while the one before is computed; else loading and computing take turns,
            and a cache occupies its prefill GPU from before it is read until it is handed on.
        two_paths: decode nodes read too, and hand over; else prefill nodes alone read.
        scheduled: `choose_engine` and `choose_path` decide; else engines and sides take turns.
        gates: of both.
    """

    layerwise: bool = True
    two_paths: bool = True
    scheduled: bool = True
    gates: Gates = field(default=GATES)

    @property
    def name(self) -> str:
        """As tables show it."""
        parts = [(self.layerwise, "layerwise"), (self.two_paths, "two paths"), (self.scheduled, "scheduler")]
        return " + ".join(name for used, name in parts if used) or "basic"


BASIC = Loading(layerwise=False, two_paths=False, scheduled=False)
FULL = Loading()
ABLATION = (
    BASIC,
    Loading(layerwise=True, two_paths=False, scheduled=False),
    Loading(layerwise=True, two_paths=True, scheduled=False),
    FULL,
)
"""One part after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Nodes that prefill and nodes that decode; kinds may differ from node to node.

    Raises:
        SimulationError: a side without nodes, a ``longest`` below 1, or GPUs that do not hold the model and one longest
            context.
    """

    model: ServedModel
    prefill: Sequence[NodeKind]
    decode: Sequence[NodeKind]
    longest: int = 65_536

    def __post_init__(self) -> None:
        if not self.prefill or not self.decode:
            raise SimulationError("a cluster needs at least one prefill and one decode node")
        if not self.longest >= 1:
            raise SimulationError(f"longest: a context has at least 1 token, not {self.longest}")
        for side in (self.prefill, self.decode):
            for node in side:
                if self.context_tokens(node, side) < self.longest:
                    raise SimulationError(
                        f"a GPU of {node.name!r} does not hold {self.model.name} and a context of {self.longest}"
                        " tokens; add nodes to that side, or take GPUs with more memory"
                    )

    @classmethod
    def of(cls, model: ServedModel, kind: NodeKind, prefill: int, decode: int) -> Cluster:
        """So many nodes of one kind on each side."""
        return cls(model=model, prefill=(kind,) * prefill, decode=(kind,) * decode)

    @property
    def name(self) -> str:
        """As in 2P4D."""
        return f"{len(self.prefill)}P{len(self.decode)}D"

    def context_tokens(self, node: NodeKind, side: Sequence[NodeKind]) -> float:
        """Tokens of cache that one GPU of a node holds beside its weights and a tenth for the rest."""
        gpus = sum(each.gpus for each in side) if self.model.sharded else 1
        free = 0.9 * node.hbm_bytes - self.model.weight_bytes / gpus
        return free / self.model.cache_bytes_per_token

    @property
    def bound(self) -> float:
        """How much more storage bandwidth two paths have than one: ``1 + D/P`` for nodes of one kind."""
        one = sum(node.storage_nic for node in self.prefill)
        return 1 + sum(node.storage_nic for node in self.decode) / one
