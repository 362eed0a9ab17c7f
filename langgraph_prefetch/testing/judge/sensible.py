"""A judge with some sense and no model: an answer is as good as the share of its claims that its contexts hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph_prefetch.testing.judge.asked import Asked
from langgraph_prefetch.testing.judge.claims import ENOUGH, claims, held, is_refusal, supported

BEST = 5
_EVEN = 0.05


def judged(wanted: Asked) -> dict[str, Any]:
    """The reply to our prompts, to those of ragas, and to openevals' judge; the same on every asking.

    A reply that is not known gets an empty value of each field's type.
    """
    data, fields = wanted.data, set(wanted.fields)
    if "better" in fields:
        return _compared(data)
    if "score" in fields:
        return _scored(data, wanted.fields["score"])
    if "noncommittal" in fields:
        return _question(str(data.get("response", "")))
    if "classifications" in fields:
        return {"classifications": [_attributed(claim, data) for claim in claims(str(data.get("answer", "")))]}
    if "verdict" in fields:
        useful = supported(str(data.get("answer", "")), [str(data.get("context", ""))]) > 0
        return {"reason": "some of the answer stands in it" if useful else "nothing of it", "verdict": int(useful)}
    if "statements" in fields:
        return {"statements": _statements(data)}
    return {name: _empty(shape) for name, shape in wanted.fields.items()}


def goodness(data: Mapping[str, Any], answer: str) -> float:
    """How good an answer is, from 0 to 1: the mean of its support and of its agreement with the reference.

    Without either, the share of the question's words that it takes up. An answer that declines is worth 0.
    """
    if is_refusal(answer):
        return 0.0
    contexts = data.get("contexts") or ([data["context"]] if data.get("context") else [])
    parts = [supported(answer, contexts)] if contexts else []
    if data.get("reference"):
        parts.append(supported(str(data["reference"]), [answer]))
    return sum(parts) / len(parts) if parts else held(str(data.get("question", "")), answer)


def _scored(data: Mapping[str, Any], shape: Mapping[str, Any]) -> dict[str, Any]:
    good = goodness(data, str(data.get("answer", "")))
    score: Any = 1 + round((BEST - 1) * good)
    if shape.get("type") == "boolean":
        score = good >= ENOUGH
    elif shape.get("type") == "number":
        score = round(good, 2)
    return {"reasoning": f"{good:.0%} of what it says is supported.", "score": score}


def _compared(data: Mapping[str, Any]) -> dict[str, Any]:
    first, second = (goodness(data, str(data.get(place, ""))) for place in ("first", "second"))
    better = "tie" if abs(first - second) < _EVEN else "first" if first > second else "second"
    return {"reasoning": f"Supported: {first:.0%} of one, {second:.0%} of the other.", "better": better}


def _question(response: str) -> dict[str, Any]:
    """The first claim, asked; what a sensible reader would take the question to have been."""
    found = claims(response)
    return {"question": f"{found[0]}?" if found else "", "noncommittal": int(is_refusal(response))}


def _attributed(claim: str, data: Mapping[str, Any]) -> dict[str, Any]:
    share = held(claim, str(data.get("context", "")))
    return {"statement": claim, "reason": f"{share:.0%} of its words are there", "attributed": int(share >= ENOUGH)}


def _statements(data: Mapping[str, Any]) -> list[Any]:
    if "statements" not in data:
        return [] if is_refusal(str(data.get("answer", ""))) else list(claims(str(data.get("answer", ""))))
    shares = {claim: held(claim, str(data.get("context", ""))) for claim in data["statements"]}
    return [
        {"statement": claim, "reason": f"{share:.0%} of its words are there", "verdict": int(share >= ENOUGH)}
        for claim, share in shares.items()
    ]


def _empty(shape: Mapping[str, Any]) -> Any:
    return {"string": "", "integer": 0, "number": 0.0, "boolean": False, "array": []}.get(str(shape.get("type")), {})
