"""The one library of this room's extra."""

from __future__ import annotations

from langgraph_prefetch.errors import MissingExtraError

try:
    import numpy as np
    from numpy.typing import NDArray
except ModuleNotFoundError as error:
    raise MissingExtraError("numpy", "near") from error

__all__ = ["NDArray", "np"]
