"""Within which bounds an arm keeps results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langgraph_prefetch.evaluation.trials import SCOPE


def scopes(evaluation: str) -> Callable[[Mapping[str, Any]], str | None]:
    """Within which results are kept: the scope that the trial says, of one evaluation.

    Another evaluation, in this process or on the same table, finds nothing of it.
    """

    def scope(configurable: Mapping[str, Any]) -> str | None:
        found = configurable.get(SCOPE)
        return None if found is None else f"{evaluation}/{found}"

    return scope
