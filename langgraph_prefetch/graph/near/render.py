"""From documents to what the tool would have returned for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.documents import Document
from langchain_core.prompts import format_document
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool
from langchain_core.tools.base import TOOL_MESSAGE_BLOCK_TYPES

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.handing import sole
from langgraph_prefetch.near_miss import Render
from langgraph_prefetch.values import Output

RenderOutput = Callable[[list[Document]], Output]

_RETRIEVER_TOOL = ("langchain_core.tools.retriever", "create_retriever_tool.<locals>.func")
_PARTS = {"retriever", "document_prompt_", "document_separator", "response_format"}


def retriever_tool_parts(tool: BaseTool) -> Mapping[str, Any] | None:
    """What ``create_retriever_tool`` was given for this tool; None for any other tool.

    Read from the function's closure: the host keeps it nowhere else. Should it change its names, this finds nothing.
    """
    function = getattr(tool, "func", None)
    if (getattr(function, "__module__", None), getattr(function, "__qualname__", None)) != _RETRIEVER_TOOL:
        return None
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    cells = getattr(function, "__closure__", None) or ()
    parts = {name: cell.cell_contents for name, cell in zip(names, cells, strict=True)}
    return parts if parts.keys() >= _PARTS else None


def retriever_tool_render(parts: Mapping[str, Any]) -> Render:
    """What such a tool makes of documents."""
    prompt, separator = parts["document_prompt_"], parts["document_separator"]

    def render(documents: list[Document]) -> Any:
        content = separator.join(format_document(each, prompt) for each in documents)
        return (content, documents) if parts["response_format"] == "content_and_artifact" else content

    return render


def k_of(retriever: Any) -> int | None:
    """How many documents a retriever returns, if it is a plain similarity search that says so."""
    retriever = sole(retriever)
    kwargs = getattr(retriever, "search_kwargs", None)
    if not isinstance(retriever, BaseRetriever) or getattr(retriever, "search_type", None) != "similarity":
        return None
    found = (kwargs or {}).get("k", getattr(retriever, "k", 4))  # 4 is LangChain's own default
    return found if isinstance(found, int) else None


def render_of_tool(tool: BaseTool, given: Render | None, *, raw: bool) -> RenderOutput:
    """How documents become an output of ``tool``.

    Args:
        tool: it.
        given: the user's function; None: found out.
        raw: outputs are what a call with plain arguments gives, not the content of a message.

    Raises:
        ConfigurationError: it cannot be found out.
    """
    if given is None:
        parts = retriever_tool_parts(tool)
        if parts is None:
            raise ConfigurationError(
                f"what {tool.name!r} makes of documents cannot be seen: give NearMiss(render=…), a function from the "
                "documents to what the tool returns for them (tools made by create_retriever_tool need none)"
            )
        given = retriever_tool_render(parts)
    render = given

    def output(documents: list[Document]) -> Output:
        made = render(documents)
        if tool.response_format != "content_and_artifact":
            return Output(made if raw else as_content(made))
        if not isinstance(made, tuple) or len(made) != 2:
            raise TypeError(f"render must give (content, artifact), as {tool.name!r} does, not {type(made).__name__}")
        return Output(as_content(made[0]), made[1])

    return output


def render_of_retriever(given: Render | None) -> RenderOutput:
    """A retriever returns its documents."""
    return lambda documents: Output(documents if given is None else given(documents))


def as_content(value: Any) -> Any:
    """The content of the tool message that the host makes of what a tool returns."""
    if isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(each, str) or _is_block(each) for each in value)
    ):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return str(value)


def _is_block(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") in TOOL_MESSAGE_BLOCK_TYPES


def same(one: Output, other: Output) -> bool:
    """Whether the two are the same answer; what cannot be compared differs."""
    try:
        return bool(one.content == other.content) and bool(one.artifact == other.artifact)
    except Exception:  # noqa: BLE001 - any object may refuse to be compared, in any way
        return False
