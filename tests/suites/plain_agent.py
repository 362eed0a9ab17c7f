"""An agent that needs nothing but langgraph: handed to `eval --agent` where little else is installed."""

from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn


@tool
def find(query: str) -> str:
    """Find passages."""
    return f"about {query}"


def asks_once(thought: str) -> ScriptedChatModel:
    """A model that thinks so, asks ``find``, and answers."""
    return ScriptedChatModel(
        script=[
            Turn(text=thought, calls=[Call("find", {"query": "Humber Bridge"})]),
            Turn(text="It is 1,410 metres long."),
        ]
    )


def make() -> Any:
    """A compiled graph with the tool ``find``."""
    model = asks_once("I need to search for the Humber Bridge. Its span must be in there.")

    async def think(state: MessagesState) -> dict[str, list[AIMessage]]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("tools", ToolNode([find]))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition)
    graph.add_edge("tools", "think")
    return graph.compile()
