"""Flows of agents that LangChain builds, wrapped or bare."""

from typing import Any

import pytest
from langchain.agents import create_agent

from langgraph_prefetch import with_prefetch
from langgraph_prefetch.observe.recording import Recording
from langgraph_prefetch.serving.flow import END, Flow, VisitRecorder
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn
from langgraph_prefetch.testing.tools import CountingSearch


@pytest.mark.parametrize("wrapped", [False, True])
async def test_an_agent_that_calls_two_tools_at_once(wrapped: bool) -> None:
    """Model, two calls side by side, model, end: whether prefetch listens or not."""
    model = ScriptedChatModel(
        script=[
            Turn("I need to search both.", calls=[Call("search", {"query": "a"}), Call("search", {"query": "b"})]),
            Turn(text="Both."),
        ]
    )
    agent: Any = create_agent(model, [CountingSearch(seconds=0.0).tool])
    if wrapped:
        agent = with_prefetch(agent, tools=["search"])
    events = Recording()
    await agent.ainvoke({"messages": [("user", "a and b?")]}, {"callbacks": [VisitRecorder(events)]})
    flow = Flow.from_graph(agent, events.events)
    found = {(each.source, each.target): each.probability for each in flow.edges}
    assert flow.stage("model").visits == 2
    assert flow.stage("tools").visits == 2
    assert flow.stage("model").amplification == pytest.approx(1.5)
    assert flow.stage("tools").amplification == pytest.approx(0.5)
    assert found["model", "tools"] == pytest.approx(2 / 3)
    assert found["model", END] == pytest.approx(1 / 3)
    assert found["tools", "model"] == 1
