"""The client classes that are compared, each pointed at the scripted server of its provider."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from botocore.config import Config
from langchain_anthropic import ChatAnthropic
from langchain_aws import ChatBedrockConverse
from langchain_core.language_models import BaseChatModel
from langchain_core.load import dumpd
from langchain_openai import AzureChatOpenAI, ChatOpenAI
from pydantic import SecretStr

from langgraph_prefetch.testing.wire import AnthropicWire, BedrockWire, OpenAIWire
from langgraph_prefetch.testing.wire.server import WireServer

KEY = SecretStr("test")
CLAUDE_ON_BEDROCK = "anthropic.claude-sonnet-4-20250514-v1:0"


@dataclass(frozen=True)
class Client:
    """How to build one client class against a server; ``thinks``: its settings allow for thinking."""

    name: str
    wire: type[WireServer]
    build: Callable[..., BaseChatModel]
    thinks: bool = True

    @property
    def class_path(self) -> str:
        """The key of its row in the table, as LangChain serialises it for callbacks."""
        return ".".join(dumpd(self.build("http://127.0.0.1:1"))["id"])


def openai(url: str, **settings: Any) -> ChatOpenAI:
    # Off OpenAI's own address stream_usage is off unless asked for.
    defaults = {"model": "gpt-4.1", "api_key": KEY, "max_retries": 0, "stream_usage": True}
    return ChatOpenAI(base_url=f"{url}/v1", **{**defaults, **settings})


def azure(url: str, **settings: Any) -> AzureChatOpenAI:
    defaults = {"azure_deployment": "gpt-4.1", "api_key": KEY, "api_version": "2024-10-21", "max_retries": 0}
    return AzureChatOpenAI(azure_endpoint=url, **{**defaults, **settings})


def anthropic(url: str, **settings: Any) -> ChatAnthropic:
    defaults = {"model": "claude-scripted", "api_key": KEY, "max_retries": 0}
    return ChatAnthropic(base_url=url, **{**defaults, **settings})


def anthropic_thinking(url: str) -> ChatAnthropic:
    return anthropic(url, max_tokens=4096, thinking={"type": "enabled", "budget_tokens": 1024})


def bedrock(url: str, **settings: Any) -> ChatBedrockConverse:
    defaults = {"model": CLAUDE_ON_BEDROCK, "region_name": "us-east-1"}
    once = Config(retries={"total_max_attempts": 1})
    return ChatBedrockConverse(endpoint_url=url, config=once, **{**defaults, **settings})


OPENAI = Client("ChatOpenAI", OpenAIWire, openai)
AZURE = Client("AzureChatOpenAI", OpenAIWire, azure)
ANTHROPIC = Client("ChatAnthropic", AnthropicWire, anthropic, thinks=False)
ANTHROPIC_THINKING = Client("ChatAnthropic-thinking", AnthropicWire, anthropic_thinking)
BEDROCK = Client("ChatBedrockConverse", BedrockWire, bedrock)

CLIENTS = (OPENAI, AZURE, ANTHROPIC, ANTHROPIC_THINKING, BEDROCK)
