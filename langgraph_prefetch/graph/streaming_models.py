"""Which chat models may be made to stream under a plain ``invoke`` without changing the message the graph sees.

Listening to tokens turns streaming on, and the client classes build a streamed message by other code than a plain one.
The table says, per class, what came out when both were compared over the wire (``tests/wire/test_equality.py``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage
from langchain_core.output_parsers.openai_tools import make_invalid_tool_call, parse_tool_call


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedMessage:
    """How one class's streamed message compares with its invoked one.

    ``differs`` names the message fields that differ, ``metadata`` the keys of ``additional_kwargs`` and
    ``response_metadata``. With ``partial_calls`` a call whose arguments never closed is invalid when invoked but looks
    valid, with a shortened value, when streamed; :func:`undo_partial_calls` takes that back.

    Equality holds for the settings tested: every setting in ``needs`` has that value, none in ``untested`` is set, and
    ``untested_models`` is not found in the model's name. ``reason`` is for people.
    """

    differs: frozenset[str]
    metadata: frozenset[str]
    reason: str
    partial_calls: bool = True
    needs: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    untested: frozenset[str] = frozenset()
    untested_models: re.Pattern[str] | None = None

    @property
    def equal(self) -> bool:
        """Whether the whole messages are equal, metadata and calls whose arguments never closed aside."""
        return not self.differs


# Anything that leads elsewhere than to OpenAI's own chat completions, or adds something to the message.
_OPENAI_UNTESTED = frozenset(
    {
        "audio",
        "context_management",
        "extra_body",
        "function_call",
        "functions",
        "include",
        "include_response_headers",
        "logprobs",
        "modalities",
        "openai_api_base",
        "output_version",
        "previous_response_id",
        "reasoning",
        "response_format",
        "stream_options",
        "text",
        "truncation",
        "use_previous_response_id",
        "use_responses_api",
        "web_search_options",
    }
)
_OPENAI_METADATA = frozenset(
    {
        "additional_kwargs.refusal",
        "response_metadata.id",
        "response_metadata.logprobs",
        "response_metadata.token_usage",
    }
)

STREAMED_EQUALS_INVOKED: Mapping[str, StreamedMessage] = MappingProxyType(
    {
        "langchain.chat_models.openai.ChatOpenAI": StreamedMessage(
            differs=frozenset(),
            metadata=_OPENAI_METADATA,
            reason="Equal on OpenAI's own chat completions with stream_usage on (the default there).",
            needs=MappingProxyType({"stream_usage": True}),
            untested=_OPENAI_UNTESTED,
            # Models which the client sends to the Responses API, or which add audio or citations.
            untested_models=re.compile(r"codex|-pro\b|-sol\b|audio|search|^gpt-(?:[6-9]|\d\d)", re.IGNORECASE),
        ),
        "langchain.chat_models.azure_openai.AzureChatOpenAI": StreamedMessage(
            differs=frozenset(),
            metadata=_OPENAI_METADATA
            | {"response_metadata.content_filter_results", "response_metadata.prompt_filter_results"},
            reason="Equal on chat completions with stream_usage on (the default).",
            needs=MappingProxyType({"stream_usage": True}),
            untested=_OPENAI_UNTESTED,
            untested_models=re.compile(r"codex|-pro\b|-sol\b|audio|search|^gpt-(?:[6-9]|\d\d)", re.IGNORECASE),
        ),
        "langgraph_prefetch.testing.models.ScriptedChatModel": StreamedMessage(
            differs=frozenset(),
            metadata=frozenset(),
            reason="Equal: its plain message is its stream, joined.",
            partial_calls=False,
        ),
        "langchain.chat_models.anthropic.ChatAnthropic": StreamedMessage(
            differs=frozenset({"content", "usage_metadata"}),
            metadata=frozenset(
                {
                    "response_metadata.container",
                    "response_metadata.diagnostics",
                    "response_metadata.id",
                    "response_metadata.model",
                    "response_metadata.stop_details",
                    "response_metadata.usage",
                }
            ),
            reason=(
                "With tools bound, text is a list of blocks instead of a string, blocks carry an index, and a call's "
                "block has empty input beside partial_json; usage lacks the split of cache writes by lifetime."
            ),
        ),
        "langchain_aws.chat_models.ChatBedrockConverse": StreamedMessage(
            differs=frozenset({"content"}),
            metadata=frozenset({"response_metadata.ResponseMetadata", "response_metadata.metrics"}),
            reason=(
                "Text is a list of blocks instead of a string, blocks carry an index, and a call's block has its input "
                "as JSON text instead of an object."
            ),
        ),
    }
)


def auto_streams(
    serialized: Mapping[str, Any] | None, invocation: Mapping[str, Any], *, undoes_partial_calls: bool = False
) -> bool:
    """Whether ``force_streaming="auto"`` may make this call stream; :func:`why_not_auto` says why not.

    ``serialized`` and ``invocation`` are what ``on_chat_model_start`` is given (the latter as ``invocation_params``).
    Where tools are bound, the caller must say with ``undoes_partial_calls`` that it applies
    :func:`undo_partial_calls` at the end of the stream: otherwise a reply that runs into its token limit inside a
    call's arguments would run a tool which the bare graph does not run. Unknown classes, subclasses included, are not
    made to stream. Never raises on missing or odd fields.
    """
    return why_not_auto(serialized, invocation, undoes_partial_calls=undoes_partial_calls) is None


def why_not_auto(
    serialized: Mapping[str, Any] | None, invocation: Mapping[str, Any], *, undoes_partial_calls: bool = False
) -> str | None:
    """Why ``auto`` leaves this call as it is, in a sentence for people; ``None`` where it may stream."""
    settings = {**_mapping((serialized or {}).get("kwargs")), **invocation}
    path = _class_path(serialized)
    row = STREAMED_EQUALS_INVOKED.get(path)
    if row is None:
        return f"{path or 'A model of unknown class'}: streamed and plain messages were not compared."
    if not row.equal:
        return row.reason
    return _why_not_settings(row, settings) or _why_not_tools(row, settings, undoes_partial_calls=undoes_partial_calls)


def _why_not_settings(row: StreamedMessage, settings: Mapping[str, Any]) -> str | None:
    if settings.get("disable_streaming") is True:
        return "The model has disable_streaming=True."
    for name, value in row.needs.items():
        if settings.get(name) != value:
            return f"Messages are equal only with {name}={value!r}."
    untested = sorted(name for name in row.untested if settings.get(name))
    if settings.get("n") not in (None, 1):
        untested.append("n")
    if untested:
        return f"Streamed and plain messages were not compared with {', '.join(untested)} set."
    for model in (settings.get(key) for key in ("model", "model_name", "deployment_name")):
        if row.untested_models and isinstance(model, str) and row.untested_models.search(model):
            return f"Streamed and plain messages of {model} were not compared."
    return None


def _why_not_tools(row: StreamedMessage, settings: Mapping[str, Any], *, undoes_partial_calls: bool) -> str | None:
    tools = settings.get("tools")
    if not tools:
        return None
    if settings.get("disable_streaming") == "tool_calling":
        return 'The model has disable_streaming="tool_calling".'
    if row.partial_calls and not undoes_partial_calls:
        return "A call cut off by the token limit would look valid when streamed."
    if not isinstance(tools, list | tuple) or any(_mapping(tool).get("type") != "function" for tool in tools):
        return "Streamed and plain messages were not compared with a provider's built-in tools."
    return None


def _class_path(serialized: Mapping[str, Any] | None) -> str:
    path = (serialized or {}).get("id")
    return ".".join(map(str, path)) if isinstance(path, list | tuple) else ""


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def undo_partial_calls(message: AIMessage, arguments: Mapping[str, str]) -> tuple[str, ...]:
    """Make calls whose arguments never closed invalid again, in place, as a plain ``invoke`` has them.

    ``arguments`` maps call ids to the JSON text heard in the stream. LangChain completes cut JSON when it joins the
    chunks (``{"path": "/home/al`` becomes ``{"path": "/home/al"}``), so a graph would run a call that the model never
    finished. Returns the ids of the calls taken back; other calls, and calls not heard, stay untouched.

    Only for messages that stream because the caller wanted it: where the bare graph streams too, it runs such calls.
    """
    undone = {call_id for call in message.tool_calls if (call_id := call["id"]) and _is_cut(arguments.get(call_id, ""))}
    if not undone:
        return ()
    taken = [call for call in message.tool_calls if call["id"] in undone]
    message.tool_calls = [call for call in message.tool_calls if call["id"] not in undone]
    for call in taken:
        function = {"name": call["name"], "arguments": arguments[str(call["id"])]}
        raw = {"id": call["id"], "type": "function", "function": function}
        message.invalid_tool_calls.append(make_invalid_tool_call(raw, _parse_error(raw)))
    return tuple(str(call["id"]) for call in taken)


def _is_cut(text: str) -> bool:
    # Not strict: the client takes raw line breaks inside strings for valid, and so must we.
    try:
        json.loads(text or "{}", strict=False)
    except ValueError:
        return True
    return False


def _parse_error(raw: dict[str, Any]) -> str:
    """The words of LangChain's own parser, which the plain message carries."""
    try:
        parse_tool_call(raw)
    except OutputParserException as error:
        return str(error)
    return ""
