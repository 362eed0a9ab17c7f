"""The libraries of this room's extra.

Of scipy only the front, which loads ``scipy.stats`` where that is first used: it takes seconds, and a plan needs none.
"""

from __future__ import annotations

from langgraph_prefetch.errors import MissingExtraError

try:
    import numpy as np
    import scipy
    from numpy.typing import NDArray
except ModuleNotFoundError as error:
    raise MissingExtraError("scipy", "eval") from error

Array = NDArray[np.float64]

__all__ = ["Array", "NDArray", "np", "scipy"]
