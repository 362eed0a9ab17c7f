"""What a user of bounded answers can set."""

from __future__ import annotations

import math
from dataclasses import dataclass

from langgraph_prefetch.errors import ConfigurationError


@dataclass(frozen=True, slots=True, kw_only=True)
class NearSettings:
    """The bound, and what is spent on it.

    Attributes:
        epsilon: at most this share of the answers served from neighbourhoods may be a wrong set, in (0, 1).
        confidence: of the test that opens a threshold, in (0, 1).
        n: passages fetched around each anchor.
        anchors: fetches of one step (model call) at most; the question's, which serves the whole run, is one of the
            first step's.
        min_degrees: an anchor nearer than this to one that is held is not fetched.
        audit_share: of the served calls, so many are searched again in the background, in (0, 1]; more while something
            looks wrong.
        false_alarm: while the bound holds, an alarm comes after at least ``1 / false_alarm`` checked calls on average.
        max_states: pairs of tool and scope whose traffic is remembered; beyond it the least recently used is forgotten.
        norm_bound: for stores that rank by the inner product, a length that no vector exceeds (1 where all are
            normalised); without it nothing can be proved there.
    """

    epsilon: float = 0.01
    confidence: float = 0.9
    n: int = 500
    anchors: int = 4
    min_degrees: float = 30.0
    audit_share: float = 0.05
    false_alarm: float = 0.002
    max_states: int = 256
    norm_bound: float | None = None

    def __post_init__(self) -> None:
        for name in ("epsilon", "confidence", "false_alarm"):
            _share(name, getattr(self, name))
        _share("audit_share", self.audit_share, one=True)
        for name in ("n", "anchors", "max_states"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigurationError(f"{name} must be a whole number from 1 on, not {value!r}")
        if not _is_number(self.min_degrees) or not 0 <= self.min_degrees < 180:
            raise ConfigurationError(f"min_degrees must be an angle in [0, 180), not {self.min_degrees!r}")
        if self.norm_bound is not None and not (_is_number(self.norm_bound) and 0 < self.norm_bound < math.inf):
            raise ConfigurationError(f"norm_bound must be a length above 0, not {self.norm_bound!r}")


def _share(name: str, value: float, *, one: bool = False) -> None:
    if not _is_number(value) or not (0 < value < 1 or (one and value == 1)):
        bounds = "(0, 1]" if one else "(0, 1)"
        raise ConfigurationError(f"{name} is a share in {bounds}, not {value!r}: 0.01 means one in a hundred")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
