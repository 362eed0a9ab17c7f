"""Prefetch as the last middleware of an agent; a guard of your own still sees every call."""

from collections.abc import Callable
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from langgraph_prefetch import PrefetchMiddleware
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn
from langgraph_prefetch.testing.tools import CountingSearch

seen_by_guard: list[str] = []


@wrap_tool_call
def guard(
    request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
) -> ToolMessage | Command[Any]:
    """Stands for an audit log, a permission check, a retry."""
    seen_by_guard.append(request.tool_call["args"]["query"])
    return handler(request)


def main() -> None:
    model = ScriptedChatModel(
        script=[
            Turn(
                "Let me search Forth Bridge. It is a cantilever bridge, if I remember right, near Edinburgh.",
                calls=[Call("search", {"query": "Forth Bridge"})],
            ),
            Turn(text="It was opened in 1890."),
        ],
        seconds_per_token=0.01,
    )
    search = CountingSearch(seconds=0.1)
    early = PrefetchMiddleware(["search"])  # last, so innermost
    agent: Any = create_agent(model, [search.tool], middleware=[guard, early])

    agent.invoke({"messages": [("user", "When was the Forth Bridge opened?")]})
    print(early.prefetch.report())
    print("the guard saw", seen_by_guard, "and the backend", search.queries)

    assert early.prefetch.report().served == 1
    assert seen_by_guard == ["Forth Bridge"]
    assert search.queries == ["Forth Bridge"]


if __name__ == "__main__":
    main()
