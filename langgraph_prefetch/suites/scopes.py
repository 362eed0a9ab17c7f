"""Within which bounds an arm keeps results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph_prefetch.evaluation.trials import SCOPE


def scope_of(configurable: Mapping[str, Any]) -> str | None:
    """Within which results are kept: the one that the trial says."""
    scope = configurable.get(SCOPE)
    return None if scope is None else str(scope)
