"""Lambda functions around a Bedrock agent: the one behind API Gateway, and the one behind an action group.

Needs the extra ``aws``.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.runnables import Runnable

from langgraph_prefetch.aws.bedrock_agents.invocations import as_json, as_text, read_function_event, tool_of
from langgraph_prefetch.aws.bedrock_agents.listening import checked
from langgraph_prefetch.aws.bedrock_agents.values import AgentQuestion, AgentReply
from langgraph_prefetch.aws.lambda_requests import (
    Asked,
    Refused,
    answered,
    principal_of,
    read,
    refused,
    session_for,
    trace_id_of,
)
from langgraph_prefetch.errors import ServiceAgentError
from langgraph_prefetch.ports import ServiceAgent

logger = logging.getLogger("langgraph_prefetch")

Event = Mapping[str, Any]
Handler = Callable[[Event, Any], dict[str, Any]]

THROTTLED = frozenset({"ThrottlingException", "throttlingException", "ServiceQuotaExceededException"})
MARGIN_SECONDS = 1.0


def api_handler(
    agent: Runnable[Any, AgentReply],
    *,
    principal: Callable[[Event], str | None] = principal_of,
    attributes: Callable[[Event], Mapping[str, str]] = lambda event: {},
) -> Handler:
    """Make the handler of a Lambda function behind API Gateway.

    ``handler = api_handler(agent)`` takes ``{"question": …, "session_id": …}`` and answers with typed JSON. A failure
    is one as well, with a type, an HTTP status and a trace id, and nothing of its inside.

    Args:
        agent: a :class:`~langgraph_prefetch.aws.bedrock_agents.BedrockAgent`.
        principal: who asks, from what the API's authorizer says; sessions are kept apart by it.
        attributes: the session's attributes, from the same; never from the body, which the client writes.
    """

    def handle(event: Event, context: Any) -> dict[str, Any]:
        trace_id = trace_id_of(event, context)
        began = time.perf_counter()
        try:
            asked = read(event)
            reply = agent.invoke(_question(asked, principal(event), attributes(event), context))
            return answered(reply, asked, trace_id, time.perf_counter() - began)
        except Refused as error:
            return refused(error, trace_id)
        except Exception as error:  # noqa: BLE001 - told to the client as far as it concerns it
            logger.warning("a question was not answered: %s (trace %s)", type(error).__name__, trace_id)
            return refused(_refusal(error), trace_id)

    return handle


def _question(asked: Asked, principal: str | None, attributes: Mapping[str, str], context: Any) -> AgentQuestion:
    remaining = getattr(context, "get_remaining_time_in_millis", None)
    seconds = max(0.1, remaining() / 1000 - MARGIN_SECONDS) if callable(remaining) else None
    return AgentQuestion(
        text=asked.question,
        session_id=session_for(principal, asked.session_id),
        session_attributes=attributes,
        seconds=seconds,
    )


def _refusal(error: Exception) -> Refused:
    response = getattr(error, "response", None)
    code = response.get("Error", {}).get("Code", "") if isinstance(response, Mapping) else ""
    if code in THROTTLED:
        return Refused(429, "throttled", "too many questions at once; ask again in a moment")
    if isinstance(error, TimeoutError) or type(error).__name__ in ("ReadTimeoutError", "ConnectTimeoutError"):
        return Refused(504, "timeout", "the agent did not answer in time")
    if code or isinstance(error, ServiceAgentError):
        return Refused(502, "agent_failed", "the agent could not answer")
    return Refused(500, "internal", "the question could not be answered")


def action_group_handler(agent: ServiceAgent) -> Handler:
    """Make the handler of the Lambda function behind an action group.

    What the agent's own process has found already, it takes from the cache that both share
    (``Prefetcher(…, scope=session_scope, reuse_seconds=…, cache=…)`` in both); else it runs the tool.

    Args:
        agent: ``prefetcher.service_agent(tools)``.
    """
    checked(agent)

    def handle(event: Event, context: Any) -> dict[str, Any]:
        invocation = read_function_event(event)
        session = event.get("sessionAttributes") or {}
        tool = tool_of(invocation, agent.tools)
        if tool is None:
            # Raised: Bedrock tells the agent that the action failed.
            raise LookupError(f"no tool is given for {invocation.names[-1]!r}; there are: {', '.join(agent.tools)}")
        question = AgentQuestion(text="", session_id=event.get("sessionId", ""), session_attributes=session)
        turn = agent.open("", question.configurable)
        try:
            content = turn.call(tool, invocation.arguments, "action", "action").content
        finally:
            turn.close()
        told: dict[str, Any] = {"actionGroup": invocation.action_group}
        if invocation.function is not None:
            body = {"responseBody": {"TEXT": {"body": as_text(content)}}}
            told |= {"function": invocation.function, "functionResponse": body}
        else:
            told |= {"apiPath": invocation.api_path, "httpMethod": invocation.http_method, "httpStatusCode": 200}
            told["responseBody"] = {"application/json": {"body": as_json(content)}}
        return {
            "messageVersion": event.get("messageVersion", "1.0"),
            "response": told,
            "sessionAttributes": session,
            "promptSessionAttributes": event.get("promptSessionAttributes") or {},
        }

    return handle
