"""What ``force_streaming="auto"`` decides from the little that a callback sees."""

from collections.abc import Mapping
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import tool_call
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

from langgraph_prefetch.graph.streaming_models import (
    STREAMED_EQUALS_INVOKED,
    auto_streams,
    undo_partial_calls,
    why_not_auto,
)
from langgraph_prefetch.testing.wire import BedrockWire, OpenAIWire
from tests.wire.clients import ANTHROPIC, BEDROCK, KEY, anthropic, azure, bedrock, openai
from tests.wire.comparing import TEXT, TEXT_CALL, search
from tests.wire.listening import Halt, Halted, Listener


class Own(ChatOpenAI):
    """A user's subclass may change anything."""


class Answer(BaseModel):
    """A structured answer."""

    text: str


def at_openai(**settings: Any) -> ChatOpenAI:
    return ChatOpenAI(**{"model": "gpt-4.1", "api_key": KEY, **settings})


def seen(model: BaseChatModel, **bound: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """What ``on_chat_model_start`` is given for a call with these bound arguments."""
    halt = Halt()
    with pytest.raises(Halted):
        model.bind(**bound).invoke("q", {"callbacks": [halt]})
    return halt.serialized, halt.invocation


def decides(model: BaseChatModel, **bound: Any) -> bool:
    return auto_streams(*seen(model, **bound), undoes_partial_calls=True)


def test_openai_agent_streams() -> None:
    """A ChatOpenAI at OpenAI, as an agent calls it with tools bound, may be made to stream."""
    halt = Halt()
    agent: Any = create_agent(at_openai(), [search])
    with pytest.raises(Halted):
        agent.invoke({"messages": [("user", "q")]}, {"callbacks": [halt]})
    assert halt.invocation["tools"]
    assert auto_streams(halt.serialized, halt.invocation, undoes_partial_calls=True)


def test_calls_may_stream_only_for_who_undoes_partial_ones() -> None:
    """Nobody turns streaming on by oversight and so runs calls that were cut off; without tools there are no calls."""
    model = at_openai()
    assert not auto_streams(*seen(model, tools=[convert_to_openai_tool(search)]))
    assert auto_streams(*seen(model))


@pytest.mark.parametrize(
    ("settings", "bound"),
    [
        ({"stream_usage": False}, {}),
        ({}, {"stream_usage": False}),
        ({"base_url": "http://127.0.0.1:1/v1", "stream_usage": True}, {}),
        ({"use_responses_api": True}, {}),
        ({"reasoning": {"effort": "low"}}, {}),
        ({"output_version": "v1"}, {}),
        ({"output_version": "responses/v1"}, {}),
        ({"include_response_headers": True}, {}),
        ({"extra_body": {"n": 2}}, {}),
        ({"model_kwargs": {"modalities": ["text", "audio"]}}, {}),
        ({"model_kwargs": {"stream_options": {"include_usage": False}}}, {}),
        ({"logprobs": True}, {}),
        ({"n": 2}, {}),
        ({}, {"n": 2}),
        ({}, {"response_format": {"type": "json_object"}}),
        ({}, {"response_format": Answer}),
        ({}, {"tools": [{"type": "web_search_preview"}]}),
        ({"disable_streaming": True}, {}),
        ({"disable_streaming": "tool_calling"}, {"tools": [{"type": "function", "function": {"name": "search"}}]}),
        ({"model": "gpt-5-pro"}, {}),
        ({"model": "gpt-5.2-codex"}, {}),
        ({"model": "gpt-6"}, {}),
        ({"model": "gpt-4o-search-preview"}, {}),
    ],
    ids=str,
)
def test_untested_settings_stay_off(settings: dict[str, Any], bound: dict[str, Any]) -> None:
    """Equality was shown for plain chat completions; whatever leads elsewhere leaves the model as it is."""
    assert decides(at_openai())
    assert not decides(at_openai(**settings), **bound)


@pytest.mark.parametrize("settings", [{"temperature": 0.2}, {"n": 1}, {"disable_streaming": "tool_calling"}], ids=str)
def test_harmless_settings_stay_on(settings: dict[str, Any]) -> None:
    """The list of exclusions does not swallow ordinary settings."""
    assert decides(at_openai(**settings))


@pytest.mark.parametrize("variable", ["OPENAI_API_BASE", "OPENAI_BASE_URL"])
def test_other_address_from_the_environment_stays_off(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compatible server elsewhere was not tested, however its address is given."""
    monkeypatch.setenv(variable, "http://127.0.0.1:1/v1")
    assert not decides(at_openai())


def test_models_of_the_responses_api_are_known() -> None:
    """Each model that the client itself sends to the Responses API is excluded by name: none is decided wrongly."""
    names = [
        "gpt-5-pro",
        "gpt-5.2-pro",
        "gpt-5.4-pro",
        "gpt-5.5-pro",
        "gpt-5.6-sol",
        "gpt-5-codex",
        "gpt-5.1-codex-max",
    ]
    row = STREAMED_EQUALS_INVOKED["langchain.chat_models.openai.ChatOpenAI"]
    assert row.untested_models is not None
    assert [name for name in names if not row.untested_models.search(name)] == []
    assert [
        name for name in ("gpt-4.1", "gpt-4o-mini", "gpt-5", "gpt-5-mini", "o3") if not decides(at_openai(model=name))
    ] == []


def test_azure_streams() -> None:
    """Azure's class turns ``stream_usage`` on at its own addresses."""
    assert decides(azure("http://127.0.0.1:1"))
    assert not decides(azure("http://127.0.0.1:1", stream_usage=False))


@pytest.mark.parametrize(
    "model",
    [
        lambda: anthropic("http://127.0.0.1:1"),
        lambda: bedrock("http://127.0.0.1:1"),
        lambda: Own(model="gpt-4.1", api_key=KEY),
    ],
    ids=[ANTHROPIC.name, BEDROCK.name, "subclass"],
)
def test_unequal_and_unknown_classes_stay_off(model: Any) -> None:
    """A class whose streamed message differs, or which nobody compared, stays idle."""
    assert not decides(model())


@pytest.mark.parametrize(
    "serialized",
    [
        None,
        {},
        {"id": None},
        {"id": []},
        {"id": "langchain.chat_models.openai.ChatOpenAI"},
        {"id": ["a"], "kwargs": None},
    ],
    ids=str,
)
def test_odd_serialisations_stay_off(serialized: Any) -> None:
    """A model that does not say what it is stays idle, and nothing is raised into the run."""
    assert not auto_streams(serialized, {}, undoes_partial_calls=True)
    assert not auto_streams(serialized, {"tools": 3, "model": 5}, undoes_partial_calls=True)


def test_reason_names_what_is_in_the_way() -> None:
    """A model that stays idle says why once, so the user can change it or decide to force streaming."""
    reasons = [
        why_not_auto(*seen(model, **bound))
        for model, bound in (
            (at_openai(logprobs=True, n=2), {}),
            (at_openai(stream_usage=False), {}),
            (at_openai(model="gpt-6"), {}),
            (at_openai(disable_streaming=True), {}),
            (at_openai(), {"tools": [{"type": "web_search"}]}),
            (bedrock("http://127.0.0.1:1"), {}),
            (Own(model="gpt-4.1", api_key=KEY), {}),
        )
    ]
    expected = [
        "logprobs, n",
        "stream_usage=True",
        "gpt-6",
        "disable_streaming",
        "token limit",
        "list of blocks",
        "Own",
    ]
    assert [word for reason, word in zip(reasons, expected, strict=True) if word not in (reason or "")] == []
    assert why_not_auto(*seen(at_openai())) is None


def test_table_is_frozen_and_readable() -> None:
    """The table is data for docs: each row has a sentence for people, and nobody can change it by accident."""
    with pytest.raises(TypeError):
        STREAMED_EQUALS_INVOKED["x"] = STREAMED_EQUALS_INVOKED["langchain.chat_models.openai.ChatOpenAI"]  # type: ignore[index]
    assert all(row.reason.endswith(".") for row in STREAMED_EQUALS_INVOKED.values())


def test_models_own_no_to_streaming_holds() -> None:
    """Models that refuse tools while streaming keep working: ``disable_streaming`` comes before any handler."""
    listener = Listener()
    with BedrockWire([TEXT_CALL]) as server:
        model = bedrock(server.url, disable_streaming="tool_calling")
        message = model.bind_tools([search]).invoke("q", {"callbacks": [listener]})
        model_by_id = bedrock(server.url, model="meta.llama3-1-70b-instruct-v1:0")
        model_by_id.bind_tools([search]).invoke("q", {"callbacks": [listener]})
    assert message.tool_calls
    assert [request.streamed for request in server.requests] == [False, False]
    assert listener.heard == 0


@pytest.mark.parametrize("off", [{"streaming": False}, {"disable_streaming": True}], ids=str)
def test_users_own_no_to_streaming_holds(off: dict[str, Any]) -> None:
    """A user who switched streaming off gets the plain answer, with a listener attached or not."""
    listener = Listener()
    with OpenAIWire([TEXT]) as server:
        openai(server.url, **off).invoke("q", {"callbacks": [listener]})
    assert [request.streamed for request in server.requests] == [False]
    assert listener.heard == 0


class TestUndoPartialCalls:
    """Taking back calls which LangChain completed from cut JSON."""

    @staticmethod
    def message(*arguments: dict[str, Any]) -> AIMessage:
        calls = [tool_call(name="search", args=args, id=f"c{at}") for at, args in enumerate(arguments)]
        return AIMessage("text", tool_calls=calls)

    def test_closed_calls_stay(self) -> None:
        """Complete arguments, raw line breaks in strings included, are no reason to touch a message."""
        message = self.message({"q": "a"}, {"q": "a\nb"}, {}, {})
        before = message.model_copy(deep=True)
        assert undo_partial_calls(message, {"c0": '{"q": "a"}', "c1": '{"q": "a\nb"}', "c2": "", "c3": " {} "}) == ()
        assert message == before

    def test_cut_call_becomes_invalid(self) -> None:
        """The cut call moves to the invalid ones with the text that was heard; its neighbours stay."""
        message = self.message({"q": "a"}, {"q": "capital of Fra"})
        assert undo_partial_calls(message, {"c0": '{"q": "a"}', "c1": '{"q": "capital of Fra'}) == ("c1",)
        assert [call["id"] for call in message.tool_calls] == ["c0"]
        (invalid,) = message.invalid_tool_calls
        assert (invalid["id"], invalid["name"], invalid["args"]) == ("c1", "search", '{"q": "capital of Fra')

    def test_unheard_calls_stay(self) -> None:
        """Without the text of a call there is no ground to doubt it."""
        message = self.message({"q": "a"})
        assert undo_partial_calls(message, {}) == ()
        assert len(message.tool_calls) == 1
