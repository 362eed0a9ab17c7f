"""The mark of an answer that what stands in for a component gave."""

from __future__ import annotations

from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage

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
