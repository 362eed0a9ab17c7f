"""Answers: what they used, and the mark of those that are degraded."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage

from langgraph_prefetch.serving.gateway.prices import Used

DEGRADED = "degraded"
"""Key in a message's ``response_metadata``, or a document's ``metadata``: the name of the fallback that gave it."""


def marked(answer: Any, component: str) -> Any:
    """``answer``, told to be degraded; a copy. What is neither message nor documents has no place for a mark."""
    if isinstance(answer, BaseMessage):
        return answer.model_copy(update={"response_metadata": {**answer.response_metadata, DEGRADED: component}})
    if isinstance(answer, list) and answer and all(isinstance(each, Document) for each in answer):
        return [each.model_copy(update={"metadata": {**each.metadata, DEGRADED: component}}) for each in answer]
    return answer


def degraded_by(answer: Any) -> str | None:
    """The name of the fallback that gave this answer; None of one that is not degraded, or has no place for a mark."""
    told: Any = None
    if isinstance(answer, BaseMessage):
        told = answer.response_metadata.get(DEGRADED)
    elif isinstance(answer, list) and answer and isinstance(answer[0], Document):
        told = answer[0].metadata.get(DEGRADED)
    return told if isinstance(told, str) else None


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
