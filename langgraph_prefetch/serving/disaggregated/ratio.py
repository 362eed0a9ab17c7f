"""How many prefill nodes go with how many decode nodes, and how much cache is alive at once. Arithmetic only."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any

from langgraph_prefetch.errors import ConfigurationError


@dataclass(frozen=True, slots=True, kw_only=True)
class PdRange:
    """Ratios of prefill to decode nodes at which neither compute NICs nor memory hold up the storage NICs.

    Attributes:
        least: below, the compute NICs of the prefill nodes are the bottleneck. Exact for exact arguments.
        most: above, the decode nodes are: their compute NICs or their memory, as ``limited_by`` says.
        limited_by: what sets ``most``: ``"decode NIC, reading"``, ``"decode NIC, writing"`` or ``"decode memory"``.
    """

    least: Fraction
    most: Fraction
    limited_by: str

    @property
    def empty(self) -> bool:
        """No ratio is free of bottlenecks."""
        return self.least > self.most

    def holds(self, prefill_nodes: int, decode_nodes: int) -> bool:
        """Whether so many nodes of each are within.

        Raises:
            ConfigurationError: fewer than one of either.
        """
        if prefill_nodes < 1 or decode_nodes < 1:
            raise ConfigurationError(f"{prefill_nodes} prefill and {decode_nodes} decode nodes; each needs at least 1")
        return self.least <= Fraction(prefill_nodes, decode_nodes) <= self.most


def pd_range(g: int, s: float, M: float, B: float) -> PdRange:
    """``s/(g-s) <= P/D <= min{(g-2s)/s, (g-s)/(2s), (M/(Bs)-3)/2}`` (arXiv 2602.21548, section 4.2).

    With all storage NICs saturated and reads spread evenly, a pair of a prefill and a decode GPU carries
    ``Tp = Bs/(D g²)`` over the prefill path and ``Tc = Bs/(P g²)`` over the decode path. Then

    * writing to a prefill GPU's NIC, ``(Tp + Tc) D g <= B``, gives the lower end;
    * reading from a decode GPU's NIC, ``(Tp + 2 Tc) P g <= B``, gives ``(g-2s)/s``;
    * writing to it, ``(2 Tp + Tc) P g <= B``, gives ``(g-s)/(2s)``;
    * a decode node's memory, read and written by turns, ``(3 + 2 P/D) B s <= M``, gives ``(M/(Bs)-3)/2``.

    Assumed: one NIC beside each GPU under the same PCIe switch, no congestion in the compute network.

    Args:
        g: GPUs of a node, each with a compute NIC.
        s: bandwidth of a node's storage NIC, as a share of one compute NIC's.
        M: memory bandwidth of a node, in the unit of ``B``.
        B: bandwidth of one compute NIC, in GB/s.

    Raises:
        ConfigurationError: a value that is no positive finite number, or a storage NIC as fast as all compute NICs.
    """
    for name, value in (("g", g), ("s", s), ("M", M), ("B", B)):
        if not _finite(value) or value <= 0:
            raise ConfigurationError(f"pd_range: {name} must be a finite number above 0, not {value!r}")
    if g != int(g):
        raise ConfigurationError(f"pd_range: g counts GPUs and must be whole, not {g!r}")
    if s >= g:
        raise ConfigurationError(f"pd_range: with s={s} and g={g} storage is as fast as all compute NICs of a node")
    gpus, share, memory, nic = (Fraction(str(value)) for value in (g, s, M, B))
    most, limited_by = min(
        ((gpus - 2 * share) / share, "decode NIC, reading"),
        ((gpus - share) / (2 * share), "decode NIC, writing"),
        ((memory / (nic * share) - 3) / 2, "decode memory"),
    )
    return PdRange(least=share / (gpus - share), most=most, limited_by=limited_by)


def working_set_bytes(
    *,
    arrivals_per_second: float,
    job_seconds: float,
    tokens: float,
    bytes_per_token: float,
    idle_factor: float = 1.0,
) -> float:
    """Bytes of cache that belong to agents under way, ``λ T̄ total / 2`` (arXiv 2602.21548, section 8.2).

    Little's law gives ``λ T̄`` agents under way, and an agent half way through has half its tokens.

    Args:
        arrivals_per_second: agents that begin each second.
        job_seconds: mean seconds from an agent's first turn to its last.
        tokens: mean tokens of an agent at its end.
        bytes_per_token: of the cache.
        idle_factor: how many times longer an agent takes with its tool calls than without. The same machines then carry
            that many times more agents, so that the set grows with its square.

    Raises:
        ConfigurationError: a value below 0 or none at all, or an ``idle_factor`` below 1.
    """
    values = (arrivals_per_second, job_seconds, tokens, bytes_per_token)
    if not all(_finite(value) and value >= 0 for value in values) or not (_finite(idle_factor) and idle_factor >= 1):
        raise ConfigurationError(
            f"a working set needs values from 0, and idle_factor from 1, not {values}, {idle_factor}"
        )
    return arrivals_per_second * job_seconds * tokens * bytes_per_token / 2 * idle_factor**2


def _finite(value: Any) -> bool:
    """It is a number at all: what was never measured is often None."""
    try:
        return isfinite(value)
    except (TypeError, OverflowError):
        return False
