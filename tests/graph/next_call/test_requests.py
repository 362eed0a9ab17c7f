"""Two requests are the same exactly if the model could not tell them apart."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest
from langchain_anthropic.chat_models import convert_to_anthropic_tool
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel

from langgraph_prefetch.graph.next_call.requests import (
    MAX_SNAPSHOTS,
    Request,
    Snapshots,
    acts_by_itself,
    answers_calls,
    equal,
    fields_of,
    fixed,
    same_message,
    same_request,
)
from langgraph_prefetch.testing.models import ScriptedChatModel, UnstreamedScriptedChatModel

CACHED: list[str | dict[Any, Any]] = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
CALL = {"name": "search", "args": {"query": "x"}, "id": "c1"}
MESSAGES = (
    SystemMessage(CACHED),
    HumanMessage("q", id="1"),
    AIMessage("", tool_calls=[CALL], id="2"),
    ToolMessage("found", tool_call_id="c1", name="search", artifact=[1]),
)


class Look(BaseModel):
    """Look something up."""

    query: str


def request(**changes: Any) -> Request:
    made = Request(
        way="_stream",
        told=False,
        model=ScriptedChatModel,
        fields={"temperature": 0.5},
        messages=MESSAGES,
        settings={"stop": None, "tools": [{"name": "search", "strict": True}], "tool_choice": None},
    )
    return replace(made, **changes)


def test_ids_and_artifacts_make_no_difference() -> None:
    """Neither is sent to a model."""
    others = copy.deepcopy(MESSAGES)
    for message in others:
        message.id = None
    others[3].artifact = {"took": 0.3}
    assert same_request(request(), request(messages=others))
    assert same_request(request(), request(messages=list(others)))


CHANGED: dict[str, dict[str, Any]] = {
    "another method": {"way": "_generate"},
    "a run manager to tell": {"told": True},
    "another class": {"model": UnstreamedScriptedChatModel},
    "another setting": {"fields": {"temperature": 0.6}},
    "one message less": {"messages": MESSAGES[1:]},
    "another order": {"messages": (*MESSAGES[:2], MESSAGES[3], MESSAGES[2])},
    "another system prompt": {"messages": (SystemMessage("Be brief."), *MESSAGES[1:])},
    "no cache mark": {"messages": (SystemMessage([{"type": "text", "text": "Be brief."}]), *MESSAGES[1:])},
    "another result": {"messages": (*MESSAGES[:3], MESSAGES[3].model_copy(update={"content": "found "}))},
    "a failed result": {"messages": (*MESSAGES[:3], MESSAGES[3].model_copy(update={"status": "error"}))},
    "another call": {"messages": (*MESSAGES[:3], MESSAGES[3].model_copy(update={"tool_call_id": "c2"}))},
    "a chunk for a message": {"messages": (*MESSAGES[:2], AIMessageChunk(content="", tool_calls=[CALL]), MESSAGES[3])},
    "more in a message": {"messages": (*MESSAGES[:3], MESSAGES[3].model_copy(update={"additional_kwargs": {"a": 1}}))},
    "another tool": {"settings": {**request().settings, "tools": [{"name": "find", "strict": True}]}},
    "1 for True": {"settings": {**request().settings, "tools": [{"name": "search", "strict": 1}]}},
    "another choice": {"settings": {**request().settings, "tool_choice": "any"}},
    "a response format": {"settings": {**request().settings, "response_format": {"type": "json"}}},
    "stop words": {"settings": {**request().settings, "stop": ["."]}},
}


@pytest.mark.parametrize("change", CHANGED)
def test_anything_else_does(change: str) -> None:
    """Whatever a model could see makes another request of it."""
    assert same_request(request(), request())
    assert not same_request(request(), request(**CHANGED[change]))


class Stubborn:
    """Refuses to be compared."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __hash__(self) -> int:
        return 1


def test_what_cannot_be_compared_differs() -> None:
    """Objects that refuse, that are not equal to themselves, and dicts that hold themselves."""
    loop: dict[str, Any] = {}
    loop["self"] = loop
    other: dict[str, Any] = {}
    other["self"] = other
    assert not equal(Stubborn(), Stubborn())
    assert not equal(float("nan"), float("inf"))
    assert not equal(loop, other)
    stubborn = Stubborn()
    assert equal({"client": stubborn}, {"client": stubborn})


def test_changes_in_place_are_seen() -> None:
    """A snapshot keeps what a message was, and is made anew for one that was changed since."""
    snapshots, message = Snapshots(), HumanMessage(["one"])
    before = snapshots.of(message)
    assert snapshots.of(message) is before
    assert isinstance(message.content, list)
    message.content.append("two")
    assert before.content == ["one"]
    assert not same_message(before, message)
    assert snapshots.of(message).content == ["one", "two"]


def test_snapshots_are_bounded() -> None:
    """However long a run is."""
    snapshots = Snapshots()
    for number in range(MAX_SNAPSHOTS + 10):
        snapshots.of(HumanMessage(str(number)))
    assert len(snapshots._held) == MAX_SNAPSHOTS


def test_settings_are_copied() -> None:
    """Lists and dicts that are changed later do not change what was asked."""
    tools = [{"name": "search", "parameters": {"a": [1]}}]
    kept = fixed({"tools": tools})
    tools[0]["parameters"]["a"].append(2)  # type: ignore[index]
    assert kept == {"tools": [{"name": "search", "parameters": {"a": [1]}}]}
    model = ScriptedChatModel(script=())
    assert fields_of(model)["argument_pieces"] == 3
    assert "_serialized" not in fields_of(model)


@pytest.mark.parametrize(
    ("tool", "is_hosted"),
    [
        (convert_to_openai_tool(Look), False),
        (convert_to_anthropic_tool(Look), False),
        ({"type": "function", "name": "search", "parameters": {}}, False),
        ({"toolSpec": {"name": "search"}}, False),
        ({"cachePoint": {"type": "default"}}, False),
        ({"function_declarations": [{"name": "search"}]}, False),
        ({"type": "web_search_20250305", "name": "web_search"}, True),
        ({"type": "web_search_preview"}, True),
        ({"type": "mcp", "server_url": "https://example.com"}, True),
        ({"type": "code_interpreter", "container": {"type": "auto"}}, True),
        ({"systemTool": {"name": "nova_grounding"}}, True),
        ({"google_search": {}}, True),
        (object(), True),
    ],
)
def test_tools_that_a_provider_runs_itself(tool: Any, is_hosted: bool) -> None:
    """What is not known to be a plain function could act in a call that nobody asks for."""
    assert acts_by_itself({"tools": [convert_to_openai_tool(Look), tool]}) == is_hosted


def test_settings_without_tools() -> None:
    """None is none; MCP servers are tools too."""
    assert not acts_by_itself({"tools": None})
    assert not acts_by_itself({})
    assert acts_by_itself({"mcp_servers": [{"url": "https://example.com"}]})
    assert acts_by_itself({"tools": "auto"})


def test_the_message_that_made_a_call() -> None:
    """A request that holds it comes after its tools."""
    assert answers_calls(MESSAGES, frozenset({"c1"}))
    assert not answers_calls(MESSAGES, frozenset({"c2"}))
