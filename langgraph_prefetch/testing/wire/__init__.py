"""Scripted model servers at wire level: real client classes, no network beyond loopback, no key, no money.

One script of :class:`Turn` values is answered in the true shapes of OpenAI, Anthropic and Bedrock, streamed or whole
as the client asks.
"""

from langgraph_prefetch.testing.wire.anthropic_messages import AnthropicWire
from langgraph_prefetch.testing.wire.bedrock_converse import BedrockWire
from langgraph_prefetch.testing.wire.openai_chat import OpenAIWire
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
    "AnthropicWire",
    "BedrockWire",
    "Cut",
    "ErrorEvent",
    "OpenAIWire",
    "Request",
    "ScriptExhaustedError",
    "ScriptedCall",
    "Stop",
    "Throttled",
    "Turn",
    "words",
]
