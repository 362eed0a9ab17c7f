"""Every step of the machine as a line of JSON, and a question asked of that file."""

import dataclasses
import json
import threading
from pathlib import Path
from typing import Any

from langchain.agents import create_agent

from langgraph_prefetch import with_prefetch
from langgraph_prefetch.events import Event
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn
from langgraph_prefetch.testing.tools import CountingSearch


class JsonLines:
    """An event sink. Events come from the threads of models, tools and retrievals, hence the lock."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8")
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        line = json.dumps({"event": type(event).__name__, **dataclasses.asdict(event)})
        with self._lock:
            self._file.write(line + "\n")

    def close(self) -> None:
        self._file.close()


def main() -> None:
    model = ScriptedChatModel(
        script=[
            Turn("I will search Clifton Suspension Bridge.", calls=[Call("search", {"query": "Clifton"})]),
            Turn(text="I do not know."),
        ],
    )
    agent: Any = with_prefetch(create_agent(model, [CountingSearch().tool]), tools=["search"], log_queries=True)
    sink = JsonLines(Path("events.jsonl"))
    unsubscribe = agent.prefetch.subscribe(sink)
    agent.invoke({"messages": [("user", "Who designed it?")]})
    unsubscribe()
    sink.close()

    events = [json.loads(line) for line in Path("events.jsonl").read_text(encoding="utf-8").splitlines()]
    print("\n".join(f"{each['event']:18} {each.get('fate', '')} {each.get('query', '') or ''}" for each in events))
    started = {each["speculation_id"] for each in events if each["event"] == "SpeculationStarted"}
    ended = {each["speculation_id"] for each in events if each["event"] == "SpeculationEnded"}
    assert started == ended != set()


if __name__ == "__main__":
    main()
