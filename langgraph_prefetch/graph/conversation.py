"""What a model call was given to read: the user's latest text, and what tools had answered."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage

MAX_RESULTS = 8
MAX_RESULT_CHARS = 20_000


def question_in(messages: Sequence[BaseMessage]) -> str:
    """The latest text of the user's; empty if there is none."""
    return next((str(message.text) for message in reversed(messages) if isinstance(message, HumanMessage)), "")


def results_in(messages: Sequence[BaseMessage]) -> tuple[str, ...]:
    """The texts of the latest tool messages, the latest first; of very long ones the beginning."""
    results: list[str] = []
    for message in reversed(messages):
        if isinstance(message, ToolMessage):
            results.append(str(message.text)[:MAX_RESULT_CHARS])
        if len(results) == MAX_RESULTS:
            break
    return tuple(results)
