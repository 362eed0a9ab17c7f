"""Real graphs without models, whose routes are scripted."""

import operator
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send


class State(TypedDict, total=False):
    ways: list[str]
    done: Annotated[list[str], operator.add]


def node(name: str) -> Any:
    def run(state: State) -> State:
        return {"done": [name]}

    run.__name__ = name
    return run


def corrective(grade: Any = None) -> Any:
    """Retrieve, grade, and either generate or rewrite and retrieve again, as ``ways`` says for each visit."""

    def route(state: State) -> str:
        return state["ways"][sum(each == "grade" for each in state["done"]) - 1]

    graph = StateGraph(State)
    for name in ("retrieve", "rewrite", "generate", "apologise"):
        graph.add_node(name, node(name))
    graph.add_node("grade", grade or node("grade"))
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "grade")
    graph.add_conditional_edges("grade", route, ["generate", "rewrite", "apologise"])
    graph.add_edge("rewrite", "retrieve")
    graph.add_edge("generate", END)
    graph.add_edge("apologise", END)
    return graph.compile(name="corrective")


def fanned_out(copies: int) -> Any:
    """Two entries side by side; one of them sends so many copies to ``work``, and ``join`` waits for all."""
    graph = StateGraph(State)
    for name in ("map", "other", "work", "join"):
        graph.add_node(name, node(name))
    graph.add_edge(START, "map")
    graph.add_edge(START, "other")
    graph.add_conditional_edges("map", lambda state: [Send("work", state)] * copies, ["work"])
    graph.add_edge("work", "join")
    graph.add_edge("join", END)
    graph.add_edge("other", END)
    return graph.compile()
