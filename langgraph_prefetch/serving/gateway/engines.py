"""Chat models behind a URL: whatever speaks OpenAI's chat completions (vLLM, llm-d, SGLang, LiteLLM's proxy, …)."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel

from langgraph_prefetch.errors import MissingExtraError

try:
    from langchain_openai import ChatOpenAI
except ImportError as error:
    raise MissingExtraError(error.name or "langchain_openai", "engines") from error


def engine(
    url: str, model: str, *, api_key: str = "none", timeout_seconds: float = 60.0, **settings: Any
) -> BaseChatModel:
    """A model of an OpenAI-compatible server, which neither retries by itself nor waits for ever.

    Args:
        url: up to and including ``/v1``.
        model: as the server calls it.
        api_key: where the server wants one.
        timeout_seconds: for a whole answer, or between two parts of a stream.
        settings: further ones of `ChatOpenAI`.
    """
    chosen: dict[str, Any] = {"base_url": url, "model": model, "api_key": api_key, "timeout": timeout_seconds}
    return ChatOpenAI(**{"max_retries": 0, "stream_usage": True, **chosen, **settings})
