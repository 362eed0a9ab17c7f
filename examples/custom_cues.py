"""Teach the detector how your agent announces a search."""

from typing import Any

from langchain.agents import create_agent

from langgraph_prefetch import Cue, default_cues, with_prefetch
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn
from langgraph_prefetch.testing.tools import CountingSearch

THOUGHT = "Time to consult the archive on Iron Bridge, and then to compare the dates that the two sources give."


def served_from_reasoning(**options: Any) -> int:
    model = ScriptedChatModel(
        script=[Turn(THOUGHT, calls=[Call("search", {"query": "Iron Bridge"})]), Turn(text="1779.")],
        seconds_per_token=0.005,
    )
    agent: Any = with_prefetch(create_agent(model, [CountingSearch(seconds=0.05).tool]), tools=["search"], **options)
    agent.invoke({"messages": [("user", "When was it built?")]})
    return int(agent.prefetch.report().served_reasoning)


def main() -> None:
    house_style = default_cues().add(
        Cue(name="en.time_to", role="intent", weight=0.6, phrases=("time to",)),
        Cue(name="en.consult", role="search", weight=0.6, phrases=("consult the archive",)),
    )
    before, after = served_from_reasoning(), served_from_reasoning(cues=house_style)
    print(f"served from reasoning: {before} with the cues of the package, {after} with two more")
    assert (before, after) == (0, 1)


if __name__ == "__main__":
    main()
