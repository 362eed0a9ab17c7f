"""A recorded message as the model would have streamed it: the thought, then the action in the style of its agent.

What is streamed for the action:

- ``react_text``: a line ``Action: Search[query]``; of structured arguments a line ``Action: Search`` and a line
  ``Action Input: {json}``;
- ``think_tags``: ``<search>query</search>`` (``<answer>…</answer>`` for ``finish``), all but what follows a closing
  think tag being reasoning;
- ``tool_calls``: a tool call whose JSON arguments come in fragments.

Nothing else follows a closing bracket, tag or brace: the end of the message comes one token later.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from langgraph_prefetch.evaluation.arguments import QUERY
from langgraph_prefetch.evaluation.tokens import cut
from langgraph_prefetch.evaluation.traces import RecordedStep, Style
from langgraph_prefetch.values import Delta, ReasoningDelta, TextDelta, ToolCallDelta

MESSAGES = frozenset({"respond", "invalid"})
"""Recorded actions without a tool: the message was the action."""
ENDINGS = frozenset({"finish"})
"""Recorded actions that end the run: written like a tool call, but nothing is run."""

_THOUGHT_ENDS = "</think>"


def pieces(step: RecordedStep, arguments: Mapping[str, Any], style: Style, call_id: str) -> Iterator[Delta]:
    """The deltas of a step, one for each token."""
    acts = step.action not in MESSAGES
    match style:
        case "react_text":
            yield from _as_text(step.thought + (_action_line(step.action, arguments) if acts else ""))
        case "think_tags":
            yield from _think_tags(step.thought + (_tags(step.action, arguments) if acts else ""))
        case "tool_calls":
            yield from _as_text(step.thought)
            if acts:
                yield from _tool_call(step.action, arguments, call_id)


def _as_text(text: str) -> Iterator[Delta]:
    return (TextDelta(piece) for piece in cut(text))


def _think_tags(text: str) -> Iterator[Delta]:
    thinking, _, answer = text.removeprefix("<think>").partition(_THOUGHT_ENDS)
    yield from (ReasoningDelta(piece) for piece in cut(thinking))
    yield from _as_text(answer)


def _tool_call(tool: str, arguments: Mapping[str, Any], call_id: str) -> Iterator[Delta]:
    yield ToolCallDelta(index=0, call_id=call_id, name=tool)
    yield from (ToolCallDelta(index=0, arguments=piece) for piece in cut(_json(arguments)))


def _action_line(tool: str, arguments: Mapping[str, Any]) -> str:
    name, query = tool[:1].upper() + tool[1:], _bare(arguments)
    if query is None:
        return f"\nAction: {name}\nAction Input: {_json(arguments)}"
    return f"\nAction: {name}[{query}]"


def _tags(tool: str, arguments: Mapping[str, Any]) -> str:
    name, query = "answer" if tool in ENDINGS else tool, _bare(arguments)
    return f"<{name}>{_json(arguments) if query is None else query}</{name}>"


def _bare(arguments: Mapping[str, Any]) -> str | None:
    """The query, where it is all there is."""
    query = arguments.get(QUERY)
    return query if isinstance(query, str) and len(arguments) == 1 else None


def _json(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False)
