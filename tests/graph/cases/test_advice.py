"""Whoever takes a wrong turn is told the way: by the error, or by the report."""

import logging
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent

from langgraph_prefetch import ConfigurationError, Prefetcher, prefetcher_of, prefetching_tool_node, with_prefetch
from langgraph_prefetch.errors import UnknownOptionError, UnknownToolError
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn
from langgraph_prefetch.testing.tools import CountingSearch

GO: Any = {"messages": [("user", "go")]}
SCRIPT = [Turn("I need to search alpha.", calls=[Call("search", {"query": "alpha"})]), Turn(text="Done.")]


class UncomparedModel(ScriptedChatModel):
    """Of a class that no test compared."""


def test_an_idle_run_says_why(caplog: pytest.LogCaptureFixture) -> None:
    """Where ``auto`` left a model as it is, report and log give the reason and the way out, once."""
    agent = with_prefetch(create_agent(UncomparedModel(script=SCRIPT), [CountingSearch().tool]), ["search"])
    with caplog.at_level(logging.WARNING, "langgraph_prefetch"):
        agent.invoke(GO)
        agent.invoke(GO)
    assert [record.getMessage().count("UncomparedModel") for record in caplog.records] == [1]
    assert "set force_streaming=True" in caplog.text
    (reason,) = prefetcher_of(agent).report().left_plain
    assert reason.endswith("UncomparedModel: streamed and plain messages were not compared.")
    assert reason in str(prefetcher_of(agent).report())


def test_a_run_that_is_heard_gives_no_reason() -> None:
    """A user who streams is not told about a setting that does not matter then."""
    agent = with_prefetch(create_agent(UncomparedModel(script=SCRIPT), [CountingSearch().tool]), ["search"])
    list(agent.stream(GO, stream_mode="messages"))
    assert prefetcher_of(agent).report().left_plain == ()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Prefetcher(["search"], reuse=60), "Did you mean 'reuse_seconds'"),  # type: ignore[call-arg]
        (lambda: Prefetcher(["search"], cues=["need to"]), "cues takes a CueSet"),  # type: ignore[arg-type]
        (lambda: Prefetcher(["search"]).tool(print), "tool.. takes a LangChain tool"),  # type: ignore[arg-type]
        (lambda: Prefetcher(["search"]).tool(CountingSearch(name="serach").tool), "among those that this prefetcher"),
        (lambda: Prefetcher(["search"]).retriever(print), "takes a LangChain retriever"),  # type: ignore[arg-type]
        (
            lambda: prefetching_tool_node([CountingSearch(name="lookup").tool], Prefetcher(["search"])),
            "no tool named 'search' in the node. Its tools: lookup",
        ),
    ],
)
def test_wrong_use_by_hand(make: Callable[[], Any], said: str) -> None:
    """Each is refused at once, in words that say what would be right."""
    with pytest.raises(ConfigurationError, match=said) as caught:
        make()
    assert isinstance(caught.value, UnknownOptionError | UnknownToolError) or "takes a" in str(caught.value)
