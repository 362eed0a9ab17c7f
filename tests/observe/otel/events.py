"""Events of real runs: served and unserved, guesses that came to nothing, failures and another tool."""

from functools import cache

from langchain_core.tools import tool

from langgraph_prefetch import with_prefetch
from langgraph_prefetch.events import Event
from langgraph_prefetch.testing.models import Call, Turn
from langgraph_prefetch.testing.tools import CountingSearch
from tests.graph.cases.rigs import DONE, GO, calls, created, model, thinks, watch


@tool
def note(text: str) -> str:
    """Write something down."""
    return text


def _fails(query: str, k: int) -> str:
    raise ConnectionError(query)


@cache
def many_runs() -> tuple[Event, ...]:
    """In the order they came. Made once, since it takes a second."""
    slow, broken = CountingSearch(seconds=0.05), CountingSearch(answer=_fails)
    in_vain = Turn(
        reasoning="I need to search for Lake Ladoga. On the other hand I know it already. ", text="It is deep."
    )
    mind_changed = Turn(reasoning="I need to search for Lake Onega. No: ", calls=[Call("note", {"text": "skip it"})])
    scripts = [
        (slow, [thinks("Lake Baikal"), DONE]),
        (slow, [calls("Lake Baikal"), DONE]),
        (slow, [thinks("Lake Baikal", "Lake Ladoga"), thinks("Lake Onega"), DONE]),
        (slow, [in_vain]),
        (slow, [mind_changed, DONE]),
        (slow, [Turn(reasoning="I need to search for Lake Como. ", calls=[Call("search", {"query": "Garda"})]), DONE]),
        (broken, [thinks("Lake Baikal")]),
    ]
    events: list[Event] = []
    for search, turns in scripts:
        agent = with_prefetch(created(model(*turns), [search.tool, note]), tools=["search"])
        seen = watch(agent)
        try:
            for _ in agent.stream(GO):
                pass
        except ConnectionError:
            pass
        agent.prefetch.close()
        events += seen
    return tuple(events)
