"""Scripted model servers at wire level: real client classes, no network beyond loopback, no key, no money.

One script of :class:`Turn` values is answered in the true shapes of OpenAI, Anthropic and Bedrock, streamed or whole
as the client asks. :class:`LocalBedrock` has Bedrock's agents, knowledge bases and embeddings besides.
"""

from langgraph_prefetch.testing.wire.agent_script import (
    Action,
    ActionRun,
    AgentFailure,
    AgentRequest,
    AgentTurn,
    AnswerChunks,
    CutHere,
    Lookup,
    Meanwhile,
    Rationale,
    RawEvent,
    RawTrace,
    ReturnControl,
)
from langgraph_prefetch.testing.wire.anthropic_messages import AnthropicWire
from langgraph_prefetch.testing.wire.bedrock_converse import BedrockWire
from langgraph_prefetch.testing.wire.bedrock_knowledge import Passage, by_words
from langgraph_prefetch.testing.wire.bedrock_server import LocalBedrock
from langgraph_prefetch.testing.wire.model_agents import ModelAgents
from langgraph_prefetch.testing.wire.openai_chat import OpenAIWire
from langgraph_prefetch.testing.wire.openai_model import OpenAIModel
from langgraph_prefetch.testing.wire.script import (
    Cut,
    ErrorEvent,
    Request,
    ScriptedCall,
    ScriptExhaustedError,
    Stop,
    Throttled,
    Turn,
    words,
)

__all__ = [
    "Action",
    "ActionRun",
    "AgentFailure",
    "AgentRequest",
    "AgentTurn",
    "AnswerChunks",
    "AnthropicWire",
    "BedrockWire",
    "Cut",
    "CutHere",
    "ErrorEvent",
    "LocalBedrock",
    "Lookup",
    "Meanwhile",
    "ModelAgents",
    "OpenAIModel",
    "OpenAIWire",
    "Passage",
    "Rationale",
    "RawEvent",
    "RawTrace",
    "Request",
    "ReturnControl",
    "ScriptExhaustedError",
    "ScriptedCall",
    "Stop",
    "Throttled",
    "Turn",
    "by_words",
    "words",
]
