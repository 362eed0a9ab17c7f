"""Results that cross runs, within a tenant and for a stated time. Another tenant never gets them."""

from typing import Any

from langchain.agents import create_agent

from langgraph_prefetch import with_prefetch
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn
from langgraph_prefetch.testing.tools import CountingSearch


def main() -> None:
    model = ScriptedChatModel(
        script=[
            Turn("I need to search Britannia Bridge.", calls=[Call("search", {"query": "Britannia Bridge"})]),
            Turn(text="It crosses the Menai Strait."),
        ]
    )
    search = CountingSearch(seconds=0.05)
    agent: Any = with_prefetch(
        create_agent(model, [search.tool]),
        tools=["search"],
        scope=lambda configurable: configurable.get("tenant"),  # None: nothing is shared
        reuse_seconds=60,
    )

    def ask(**configurable: str) -> int:
        """How many searches the backend had to run for this question."""
        before = len(search)
        agent.invoke({"messages": [("user", "What does it cross?")]}, {"configurable": configurable})
        return len(search) - before

    first, again = ask(tenant="north"), ask(tenant="north")
    other, nobody = ask(tenant="south"), ask()
    print(f"backend searches: first {first}, same tenant {again}, other tenant {other}, no tenant {nobody}")
    print(agent.prefetch.report())

    assert (first, again, other, nobody) == (1, 0, 1, 1)
    assert agent.prefetch.report().served_reuse == 1


if __name__ == "__main__":
    main()
