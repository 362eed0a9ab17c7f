"""Amazon Bedrock Agents ("Classic"), with the searches that they leave to their caller started early.

Needs the extra ``aws``.
"""

from langgraph_prefetch.aws.bedrock_agents.agent import BedrockAgent
from langgraph_prefetch.aws.bedrock_agents.listening import ActionResults, BedrockAgentListener
from langgraph_prefetch.aws.bedrock_agents.values import (
    AgentCall,
    AgentQuestion,
    AgentReply,
    Fate,
    Invocation,
    ReturnedControl,
    session_scope,
)

__all__ = [
    "ActionResults",
    "AgentCall",
    "AgentQuestion",
    "AgentReply",
    "BedrockAgent",
    "BedrockAgentListener",
    "Fate",
    "Invocation",
    "ReturnedControl",
    "session_scope",
]
