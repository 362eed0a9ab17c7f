"""API Gateway's events read and checked, and what is answered to them. Pure."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph_prefetch.aws.bedrock_agents.values import AgentReply, Fate, new_session_id
from langgraph_prefetch.aws.bedrock_agents.wording import SESSION_ID_FORM

MAX_QUESTION_CHARS = 10_000
FIELDS = frozenset({"question", "session_id"})

_JSON = {"content-type": "application/json"}
_CLAIMS = (("authorizer", "jwt", "claims", "sub"), ("authorizer", "claims", "sub"), ("authorizer", "iam", "userArn"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question, checked. ``session_id`` is the client's own name of its session."""

    question: str = field(repr=False)
    session_id: str


class Refused(Exception):
    """A request that cannot be answered: an HTTP status, a type for programs, a sentence for people."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        self.status, self.kind, self.message = status, kind, message
        super().__init__(message)


def read(event: Mapping[str, Any]) -> Asked:
    """A proxy event of a REST or HTTP API, or the request itself where the function is invoked directly.

    Raises:
        Refused: it is no JSON object, lacks a question, or has more than may be sent.
    """
    body: Any = _body(event) if "requestContext" in event or "body" in event else event
    if not isinstance(body, Mapping):
        raise _bad("the body is a JSON object with a question")
    if extra := sorted(str(name) for name in body if name not in FIELDS):
        raise _bad(f"there is no field {extra[0][:40]!r}: send question, and perhaps session_id")
    question = body.get("question")
    if not isinstance(question, str) or not question.strip():
        raise _bad("question is a text")
    if len(question) > MAX_QUESTION_CHARS:
        raise _bad(f"question has {len(question)} characters; at most {MAX_QUESTION_CHARS} are taken")
    session_id = body.get("session_id")
    if session_id is None:
        session_id = new_session_id()
    if not isinstance(session_id, str) or not SESSION_ID_FORM.fullmatch(session_id):
        raise _bad("session_id has 2 to 100 characters of 0-9a-zA-Z._:-")
    return Asked(question=question, session_id=session_id)


def _body(event: Mapping[str, Any]) -> Any:
    text = event.get("body") or ""
    try:
        if event.get("isBase64Encoded"):
            text = base64.b64decode(text, validate=True).decode()
        return json.loads(text)
    except (ValueError, TypeError, binascii.Error, RecursionError):
        raise _bad("the body is no JSON") from None


def _bad(message: str) -> Refused:
    return Refused(400, "bad_request", message)


def principal_of(event: Mapping[str, Any]) -> str | None:
    """Who asks, as the API's authorizer says: the subject of a JSON web token, or an IAM ARN; None: nobody says."""
    context = event.get("requestContext") or {}
    for path in _CLAIMS:
        found: Any = context
        for name in path:
            found = found.get(name) if isinstance(found, Mapping) else None
        if isinstance(found, str) and found:
            return found
    identity = context.get("identity") or {}
    return identity.get("userArn") or None


def session_for(principal: str | None, session_id: str) -> str:
    """The session at Bedrock: with a principal nobody else can enter it, whatever id they send."""
    if principal is None:
        return session_id
    return hashlib.sha256(json.dumps([principal, session_id]).encode()).hexdigest()


def trace_id_of(event: Mapping[str, Any], context: Any) -> str:
    """The X-Ray trace, else the request at API Gateway, else Lambda's own."""
    for part in os.environ.get("_X_AMZN_TRACE_ID", "").split(";"):
        if part.startswith("Root="):
            return part.removeprefix("Root=")
    request = (event.get("requestContext") or {}).get("requestId")
    return str(request or getattr(context, "aws_request_id", "") or new_session_id())


def answered(reply: AgentReply, asked: Asked, trace_id: str, seconds: float) -> dict[str, Any]:
    """The response to a question that was answered. Times are milliseconds."""
    fates = [call.fate for call in reply.calls]
    lookups = [call.lookup_seconds for call in reply.calls]
    body = {
        "answer": reply.text,
        "session_id": asked.session_id,
        "trace_id": trace_id,
        "outcome": outcome(fates),
        "cache_read_ms": _ms(max(lookups)) if lookups else None,
        "stage_ms": {"agent": _ms(reply.agent_seconds), "calls": _ms(reply.call_seconds), "total": _ms(seconds)},
        "calls": [
            {
                "tool": call.tool,
                "outcome": call.fate.value,
                "cache_read_ms": _ms(call.lookup_seconds),
                "call_ms": _ms(call.seconds),
                "lead_ms": _ms(call.lead_seconds),
                "hidden_ms": _ms(call.hidden_seconds),
            }
            for call in reply.calls
        ],
        "needs_action": reply.return_control is not None,
    }
    return _response(200, body)


def outcome(fates: list[Fate]) -> str:
    """Of a whole turn the worst of its calls; ``none`` if it had none."""
    return next((fate.value for fate in (Fate.MISS, Fate.LATE, Fate.HIT) if fate in fates), "none")


def refused(error: Refused, trace_id: str) -> dict[str, Any]:
    """The response to a question that was not."""
    body = {"error": {"type": error.kind, "message": error.message}, "trace_id": trace_id}
    return _response(error.status, body)


def _response(status: int, body: Mapping[str, Any]) -> dict[str, Any]:
    return {"statusCode": status, "headers": _JSON, "body": json.dumps(body, ensure_ascii=False)}


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)
