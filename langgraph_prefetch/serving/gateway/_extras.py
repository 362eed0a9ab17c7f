"""What of the gateway needs an optional library, in one place."""

from __future__ import annotations

from langgraph_prefetch.errors import MissingExtraError

try:
    from langgraph_prefetch.breaker import Breaker, BreakerRule, Entered
except ImportError as error:
    raise MissingExtraError("purgatory", "serving") from error

__all__ = ["Breaker", "BreakerRule", "Entered"]
