"""`python -m tests.graph.operators.recalling URL`: another process with searches of memory under way.

In each of two runs it says "ready" once the search has been read early, waits for a line, then makes the real call and
prints what it got as JSON.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.store.base import SearchOp
from langgraph.store.postgres import PostgresStore

from langgraph_prefetch import Prefetcher
from langgraph_prefetch.graph.operators.epochs import EpochStore
from langgraph_prefetch.graph.operators.memory import Memory
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn

THOUGHT = "I need to search for tea. Then I can go on. "


class Searched(EpochStore):
    """Counts the searches that have ended."""

    searches = 0

    def batch(self, ops: Any) -> Any:
        asked = list(ops)
        results = super().batch(asked)
        self.searches += any(isinstance(op, SearchOp) for op in asked)
        return results


def recall(store: Searched, meanwhile: Callable[[], None]) -> dict[str, Any]:
    """One run in which something happens between the speculation's search and the real call."""
    prefetch = Prefetcher(["recall"])
    early = prefetch.tool(Memory(store=store, namespace=("memories", "ada")).tool())
    llm = ScriptedChatModel(script=[Turn(reasoning=THOUGHT, calls=[Call("recall", {"query": "tea"})])])
    before = store.searches
    with prefetch.run():
        message = llm.invoke([HumanMessage("go")], {"callbacks": [prefetch.handler()]}, stream=True)
        while store.searches == before:
            time.sleep(0.002)
        meanwhile()
        found = early.invoke({**message.tool_calls[0], "type": "tool_call"})
    return {"found": found.content, "served": prefetch.report().served}


def say_ready_and_wait() -> None:
    print("ready", flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    with PostgresStore.from_conn_string(sys.argv[1]) as inner:
        for _ in range(2):
            print(json.dumps(recall(Searched(inner), say_ready_and_wait)), flush=True)
