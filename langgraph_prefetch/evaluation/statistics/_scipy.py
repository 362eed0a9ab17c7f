"""The libraries of this room's extra."""

from __future__ import annotations

from langgraph_prefetch.errors import MissingExtraError

try:
    import numpy as np
    from numpy.typing import NDArray
    from scipy import optimize, stats
except ModuleNotFoundError as error:
    raise MissingExtraError("scipy", "eval") from error

Array = NDArray[np.float64]

__all__ = ["Array", "NDArray", "np", "optimize", "stats"]
