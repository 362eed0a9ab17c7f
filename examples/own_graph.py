"""A graph drawn by hand whose model does not stream: a node starts the search, a tool node answers from it.

Between the two stands a slow step (here a policy check), and the search runs behind it.
"""

import time
from typing import Any

from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition

from langgraph_prefetch import Prefetcher, SpeculationNode, prefetching_tool_node
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn


@tool
def search(query: str) -> str:
    """Search the encyclopedia."""
    time.sleep(0.3)
    return f"A passage about {query}."


def check_policy(state: MessagesState) -> dict[str, Any]:
    time.sleep(0.3)
    return {}


def main() -> None:
    model = ScriptedChatModel(
        script=[Turn("Thinking.", calls=[Call("search", {"query": "Severn Bridge"})]), Turn(text="It is in England.")],
        streams=False,
    )
    prefetch = Prefetcher(["search"])
    drawing = StateGraph(MessagesState)
    drawing.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    drawing.add_node("speculate", SpeculationNode(prefetch))
    drawing.add_node("check_policy", check_policy)
    drawing.add_node("tools", prefetching_tool_node([search], prefetch))
    drawing.add_edge(START, "model")
    drawing.add_edge("model", "speculate")
    drawing.add_conditional_edges("speculate", tools_condition, {"tools": "check_policy", END: END})
    drawing.add_edge("check_policy", "tools")
    drawing.add_edge("tools", "model")
    graph: Any = drawing.compile().with_config(callbacks=[prefetch.handler()])

    began = time.perf_counter()
    graph.invoke({"messages": [("user", "Where is the Severn Bridge?")]})
    print(f"check and search, 0.3 s each, together took {time.perf_counter() - began:.2f} s")
    print(prefetch.report())

    assert prefetch.report().served_sealed == 1
    assert prefetch.report().hidden_seconds > 0.2


if __name__ == "__main__":
    main()
