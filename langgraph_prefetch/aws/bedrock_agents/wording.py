"""What may be asked of an agent, and its answer as a message. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig

from langgraph_prefetch.aws.bedrock_agents.values import AgentQuestion, AgentReply
from langgraph_prefetch.errors import ConfigurationError

AgentInput = str | AgentQuestion | Mapping[str, Any] | Sequence[BaseMessage]

SESSION_ID_FORM = re.compile(r"[0-9a-zA-Z._:-]{2,100}")


def question_of(asked: Any, config: RunnableConfig) -> AgentQuestion:
    """The question that was asked; without a session, in that of the configuration's thread.

    Raises:
        ConfigurationError: it is none.
    """
    if isinstance(asked, AgentQuestion):
        return asked
    thread_id = (config.get("configurable") or {}).get("thread_id")
    session: dict[str, Any] = {} if thread_id is None else {"session_id": session_of(str(thread_id))}
    if isinstance(asked, str):
        return AgentQuestion(text=asked, **session)
    if isinstance(asked, Mapping):
        try:
            return AgentQuestion(**{**session, **asked})
        except TypeError as error:
            raise ConfigurationError(f"a question has the fields of AgentQuestion: {error}") from error
    latest = asked[-1] if isinstance(asked, Sequence) and asked else None
    if not isinstance(latest, BaseMessage):
        raise ConfigurationError(f"a Bedrock agent is asked a text or messages, not {type(asked).__name__}")
    text = next((str(each.text) for each in reversed(asked) if isinstance(each, HumanMessage)), str(latest.text))
    return AgentQuestion(text=text, **session)


def session_of(thread_id: str) -> str:
    """A session's id that Bedrock takes, for a thread of the graph's: the same, or its digest where that cannot be."""
    if SESSION_ID_FORM.fullmatch(thread_id):
        return thread_id
    return f"thread-{hashlib.sha256(thread_id.encode()).hexdigest()[:32]}"


def messages_in(state: Any, key: str) -> Sequence[BaseMessage]:
    """The messages of a graph's state."""
    found = state if isinstance(state, list) else state.get(key) if isinstance(state, Mapping) else getattr(state, key)
    return list(found or [])


def message_of(reply: AgentReply) -> AIMessage:
    """A reply as a message of the graph's."""
    told: dict[str, Any] = {
        "session_id": reply.session_id,
        "calls": [{"tool": call.tool, "fate": call.fate.value, "seconds": call.seconds} for call in reply.calls],
    }
    if reply.return_control is not None:
        told["return_control"] = dict(reply.return_control.event)
    return AIMessage(reply.text, response_metadata={"bedrock_agent": told})
