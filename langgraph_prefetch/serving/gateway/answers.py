"""What answers used."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from langgraph_prefetch.serving.gateway.prices import Used


class Meter:
    """What one call used so far, part by part."""

    def __init__(self) -> None:
        self._input = self._cached = self._output = 0

    def read(self, part: Any) -> None:
        """Take an answer or a part of one."""
        told = getattr(part, "usage_metadata", None)
        if not isinstance(told, dict):  # structured output with ``include_raw`` has its message inside
            told = getattr(part.get("raw"), "usage_metadata", None) if isinstance(part, dict) else None
        if not isinstance(told, dict):
            return
        cached = (told.get("input_token_details") or {}).get("cache_read") or 0
        self._cached += cached
        self._input += max(0, (told.get("input_tokens") or 0) - cached)
        self._output += told.get("output_tokens") or 0

    def used(self, seconds: float, *, began: bool) -> Used:
        """All of it. ``began``: the component began to answer, so that the call itself counts."""
        return Used(
            calls=int(began),
            input_tokens=self._input,
            cached_input_tokens=self._cached,
            output_tokens=self._output,
            seconds=Decimal(f"{max(0.0, seconds):.6f}"),
        )
