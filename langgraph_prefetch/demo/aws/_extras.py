"""The library of the demo's model, in one place."""

from __future__ import annotations

from langgraph_prefetch.errors import MissingExtraError

try:
    from langchain_aws import ChatBedrockConverse
except ImportError as error:
    raise MissingExtraError(error.name or "langchain-aws", "aws") from error

__all__ = ["ChatBedrockConverse"]
