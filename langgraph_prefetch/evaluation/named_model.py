"""A chat model by the name that LangChain knows it by."""

from __future__ import annotations

import textwrap

from langchain_core.language_models import BaseChatModel

from langgraph_prefetch.errors import ConfigurationError, MissingExtraError


def named_model(name: str) -> BaseChatModel:
    """Any chat model that LangChain can make from a string such as ``anthropic:claude-sonnet-4-5``.

    Raises:
        MissingExtraError: LangChain itself is not installed.
        ConfigurationError: it cannot; the message is LangChain's or the provider's own, in one line.
    """
    try:
        from langchain.chat_models import init_chat_model
    except ModuleNotFoundError as error:
        raise MissingExtraError("langchain", "langchain") from error
    try:
        return init_chat_model(name)
    except Exception as error:
        raise ConfigurationError(f"cannot make the model {name!r}: {in_a_line(error)}") from error


def in_a_line(error: BaseException) -> str:
    """An error's message in one line, shortened; its kind, if it has none."""
    return textwrap.shorten(str(error), 240, placeholder=" ...") or type(error).__name__
