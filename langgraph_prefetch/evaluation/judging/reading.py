"""From a model's structured output to a payload, or to the reason why there is none. Strict: nothing is repaired."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from langchain_core.messages import AIMessage

from langgraph_prefetch.evaluation.judging.replies import Answer
from langgraph_prefetch.evaluation.judging.values import Reason

MAX_DETAIL = 200
MAX_KEPT_CHARS = 200_000


def read_output(output: Any, max_chars: int) -> Answer:
    """What ``with_structured_output(…, include_raw=True)`` returned, as an answer without tokens and money.

    LangChain's parsers take JSON out of prose, and complete JSON that was cut short. A judge that writes so has not
    done what it was told, and what it meant is a guess: malformed.
    """
    raw = output.get("raw") if isinstance(output, Mapping) else None
    if not isinstance(raw, AIMessage):
        return Answer.without(Reason.MALFORMED, f"the model returned {type(output).__name__} and no message")
    text = _text(raw)
    kept = text[:MAX_KEPT_CHARS]
    refusal = raw.additional_kwargs.get("refusal")
    if refusal:
        return Answer.without(Reason.REFUSED, str(refusal)[:MAX_DETAIL], text=kept or str(refusal)[:MAX_KEPT_CHARS])
    if len(text) > max_chars:
        return Answer.without(Reason.VERBOSE, f"{len(text):,} characters, more than {max_chars:,}", text=kept)
    payload = output.get("parsed")
    if output.get("parsing_error") is not None or not isinstance(payload, Mapping):
        return Answer.without(Reason.MALFORMED, "no JSON object", text=kept)
    if not raw.tool_calls and not _is_json(text):
        return Answer.without(Reason.MALFORMED, "JSON among other text, or cut short", text=kept)
    return Answer(payload=dict(payload), text=kept)


def _text(raw: AIMessage) -> str:
    called = "".join(json.dumps(call["args"], ensure_ascii=False) for call in raw.tool_calls)
    return str(raw.text) + called


def _is_json(text: str) -> bool:
    bare = text.strip()
    if bare.startswith("```") and bare.endswith("```"):
        bare = bare.removeprefix("```").removeprefix("json").removesuffix("```")
    try:
        json.loads(bare)
    except ValueError:
        return False
    return True
