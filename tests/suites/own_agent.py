"""An agent as a user may have one: it is handed to `eval --agent`."""

from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import tool

from tests.suites.plain_agent import asks_once

asked: list[str] = []


@tool
def find(query: str) -> str:
    """Find passages."""
    asked.append(query)
    return f"about {query}"


def make() -> Any:
    """A compiled graph with the tool ``find``."""
    model = asks_once("I need to search for the Humber Bridge. Its span must be in there, and I expect no surprise.")
    return create_agent(model, tools=[find])


def fails() -> Any:
    """As an agent whose key is missing."""
    raise RuntimeError("no key")


nothing = None
