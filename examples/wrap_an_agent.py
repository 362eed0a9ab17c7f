"""Wrap an agent that exists: the same answer, sooner."""

import time
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import tool

from langgraph_prefetch import with_prefetch
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn

THOUGHT = (
    "The user asks how long the bridge is. I need to search Humber Bridge, and then read the length of its main span "
    "from the article. The longest span is the one between the two towers, so that is the figure to look for."
)


@tool
def search(query: str) -> str:
    """Search the encyclopedia."""
    time.sleep(0.3)
    return f"{query}: main span 1,410 m."


def timed(agent: Any) -> tuple[float, list[str]]:
    began = time.perf_counter()
    result = agent.invoke({"messages": [("user", "How long is the main span of the Humber Bridge?")]})
    return time.perf_counter() - began, [message.text for message in result["messages"]]


def main() -> None:
    # Stands in for a model behind an API: writes one word every 20 ms.
    model = ScriptedChatModel(
        script=[Turn(THOUGHT, calls=[Call("search", {"query": "Humber Bridge"})]), Turn(text="1,410 metres.")],
        seconds_per_token=0.02,
    )
    bare: Any = create_agent(model, [search])
    wrapped: Any = with_prefetch(bare, tools=["search"])

    bare_seconds, bare_texts = timed(bare)
    wrapped_seconds, wrapped_texts = timed(wrapped)
    print(f"bare {bare_seconds:.2f} s, wrapped {wrapped_seconds:.2f} s")
    print(wrapped.prefetch.report())

    assert wrapped_texts == bare_texts
    assert wrapped.prefetch.report().served == 1
    assert wrapped_seconds < bare_seconds


if __name__ == "__main__":
    main()
