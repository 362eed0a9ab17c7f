"""Amazon Bedrock ``InvokeAgent`` and ``InvokeInlineAgent``: requests read, and turns worded as event streams. Pure."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from langgraph_prefetch.testing.wire import event_stream
from langgraph_prefetch.testing.wire.agent_script import (
    Action,
    ActionRun,
    AgentFailure,
    AgentRequest,
    AgentStep,
    AgentTurn,
    AnswerChunks,
    Lookup,
    Rationale,
    RawEvent,
    RawTrace,
    ReturnControl,
)

_AGENT = re.compile(r"/agents/(?P<agent>[^/]+)/agentAliases/(?P<alias>[^/]+)/sessions/(?P<session>[^/]+)/text")
_INLINE = re.compile(r"/agents/(?P<session>[^/]+)")
_TYPES = {bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


def read(path: str, body: Mapping[str, Any], turn_of_session: Mapping[str, int]) -> AgentRequest | None:
    """The request behind a POST of ``body`` to the (unquoted) ``path``; None: it is no agent's route."""
    route = _AGENT.fullmatch(path) or _INLINE.fullmatch(path)
    if route is None:
        return None
    inline = route.re is _INLINE
    state = body.get("inlineSessionState" if inline else "sessionState") or {}
    return AgentRequest(
        path=path,
        body=body,
        agent_id="" if inline else route["agent"],
        session_id=route["session"],
        inline=inline,
        turn=turn_of_session.get(route["session"], 0),
        prompt=body.get("inputText") or "",
        traced=bool(body.get("enableTrace")),
        results=tuple(state.get("returnControlInvocationResults") or ()),
        attributes=state.get("sessionAttributes") or {},
    )


def stream_headers(request: AgentRequest) -> dict[str, str]:
    """Those of a stream; botocore reads the session from them."""
    return {
        "content-type": "application/vnd.amazon.eventstream",
        "x-amz-bedrock-agent-session-id": request.session_id,
        "x-amzn-bedrock-agent-content-type": "application/json",
    }


def frames(turn: AgentTurn, request: AgentRequest) -> Iterator[tuple[AgentStep, list[bytes]]]:
    """Each step with the events that tell it; traces only where the request asks for them."""
    number = 0
    for step in turn.steps:
        number += isinstance(step, Rationale)
        trace_id = f"trace-{request.turn}-{number}"
        events = [event_stream.event("trace", _part(request, trace)) for trace in _traces(step, request, trace_id)]
        yield step, (events if request.traced else []) + _events(step)


def _events(step: AgentStep) -> list[bytes]:
    match step:
        case ReturnControl(actions, invocation_id):
            inputs = [_input(action) for action in actions]
            return [event_stream.event("returnControl", {"invocationId": invocation_id, "invocationInputs": inputs})]
        case AnswerChunks(pieces):
            return [event_stream.event("chunk", {"bytes": base64.b64encode(piece).decode()}) for piece in pieces]
        case AgentFailure(kind, message):
            return [event_stream.exception(kind, message)]
        case RawEvent(kind, payload):
            return [event_stream.event(kind, payload)]
        case _:
            return []


def _traces(step: AgentStep, request: AgentRequest, trace_id: str) -> Iterator[dict[str, Any]]:
    match step:
        case Rationale(text, reasoning):
            # The prompt holds the user's words, and earlier results: it is nothing that the agent thinks.
            prompt = {"text": json.dumps({"user": request.prompt}), "type": "ORCHESTRATION", "traceId": trace_id}
            yield {"orchestrationTrace": {"modelInvocationInput": prompt}}
            output: dict[str, Any] = {"traceId": trace_id, "metadata": {"usage": {"inputTokens": 1, "outputTokens": 1}}}
            if reasoning:
                output["reasoningContent"] = {"reasoningText": {"text": reasoning, "signature": "c2lnbmF0dXJl"}}
            yield {"orchestrationTrace": {"modelInvocationOutput": output}}
            if text:
                yield {"orchestrationTrace": {"rationale": {"text": text, "traceId": trace_id}}}
        case Lookup(query, passages, base_id):
            asked = {"text": query, "knowledgeBaseId": base_id}
            yield _invocation(trace_id, "KNOWLEDGE_BASE", knowledgeBaseLookupInput=asked)
            found = {"retrievedReferences": [{"content": {"text": passage}} for passage in passages]}
            yield _observation(trace_id, "KNOWLEDGE_BASE", knowledgeBaseLookupOutput=found)
        case ActionRun(action, output_text):
            yield _invocation(trace_id, "ACTION_GROUP", actionGroupInvocationInput=_traced(action, "LAMBDA"))
            yield _observation(trace_id, "ACTION_GROUP", actionGroupInvocationOutput={"text": output_text})
        case ReturnControl(actions, invocation_id, True):
            for action in actions:
                asked = {**_traced(action, "RETURN_CONTROL"), "invocationId": invocation_id}
                yield _invocation(trace_id, "ACTION_GROUP", actionGroupInvocationInput=asked)
        case AnswerChunks(pieces):
            text = b"".join(pieces).decode(errors="replace")
            yield _observation(trace_id, "FINISH", finalResponse={"text": text})
        case RawTrace(trace):
            yield dict(trace)


def _part(request: AgentRequest, trace: Mapping[str, Any]) -> dict[str, Any]:
    part = {"sessionId": request.session_id, "trace": trace, "eventTime": "2026-01-01T00:00:00Z"}
    return part if request.inline else {**part, "agentId": request.agent_id, "agentVersion": "1"}


def _invocation(trace_id: str, kind: str, **given: Any) -> dict[str, Any]:
    return {"orchestrationTrace": {"invocationInput": {"traceId": trace_id, "invocationType": kind, **given}}}


def _observation(trace_id: str, kind: str, **given: Any) -> dict[str, Any]:
    return {"orchestrationTrace": {"observation": {"traceId": trace_id, "type": kind, **given}}}


def _properties(action: Action) -> list[dict[str, str]]:
    return [
        {
            "name": name,
            "type": _TYPES.get(type(value), "string"),
            "value": value if isinstance(value, str) else json.dumps(value),
        }
        for name, value in action.arguments.items()
    ]


def _body(action: Action) -> dict[str, Any]:
    return {"content": {"application/json": {"properties": _properties(action)}}}


def _input(action: Action) -> dict[str, Any]:
    told = {"actionGroup": action.group, "actionInvocationType": action.kind}
    if action.agent:
        told["agentId"] = action.agent
    if action.path:
        api = {**told, "apiPath": action.path, "httpMethod": action.method, "requestBody": _body(action)}
        return {"apiInvocationInput": api}
    return {"functionInvocationInput": {**told, "function": action.name, "parameters": _properties(action)}}


def _traced(action: Action, execution: str) -> dict[str, Any]:
    told = {"actionGroupName": action.group, "executionType": execution}
    if action.path:
        body = {"content": {"application/json": _properties(action)}}
        return {**told, "apiPath": action.path, "verb": action.method, "requestBody": body}
    return {**told, "function": action.name, "parameters": _properties(action)}
