"""A wrapped agent answers as the bare one does. Run on the installed wheel, with no extras, outside the checkout."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode, tools_condition

import langgraph_prefetch
from langgraph_prefetch import with_prefetch


class State(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]


@tool
def search(query: str) -> str:
    """Searches."""
    return f"found {query}"


def script() -> Iterator[AIMessage]:
    call = {"name": "search", "args": {"query": "tides"}, "id": "call-1"}
    yield AIMessage("I need to search for tides.", tool_calls=[call])
    yield AIMessage("The moon raises them.")


def agent() -> Any:
    model = GenericFakeChatModel(messages=script())
    graph = StateGraph(State)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode([search]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition, {"tools": "tools", END: END})
    graph.add_edge("tools", "model")
    return graph.compile()


def contents(graph: Any) -> list[tuple[str, str]]:
    result = graph.invoke({"messages": [("user", "What raises the tides?")]})
    return [(message.type, message.content) for message in result["messages"]]


def main() -> None:
    where = Path(langgraph_prefetch.__file__)
    assert "site-packages" in where.parts, f"not the wheel: {where}"
    bare = contents(agent())
    wrapped = with_prefetch(agent(), tools=["search"])
    assert contents(wrapped) == bare, "the wrapped agent answered differently"
    assert ("tool", "found tides") in bare
    print(f"smoke test passed on {where.parent}; report: {wrapped.prefetch.report()}")


if __name__ == "__main__":
    main()
