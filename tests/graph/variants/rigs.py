"""Agents with variants, and keys that fall into them."""

from itertools import count
from typing import Any

from langchain_core.tools import BaseTool

from langgraph_prefetch import Variants
from langgraph_prefetch.experiments import Experiment
from langgraph_prefetch.testing.tools import CountingSearch

BOTH = {"a": 1.0, "b": 1.0}


def keys_of(experiment: Experiment, variant: str, many: int) -> list[str]:
    """The first keys that are given a variant."""
    users = (f"user-{number}" for number in count())
    found: list[str] = []
    while len(found) < many:
        if experiment.variant_of(user := next(users)) == variant:
            found.append(user)
    return found


def of_user(user: str | None, **more: Any) -> Any:
    return {"configurable": {**({"user": user} if user is not None else {}), **more}}


def telling(variant: str, **options: Any) -> CountingSearch:
    """A search tool whose results say which variant they are of."""
    return CountingSearch(answer=lambda query, k: f"{query} by {variant}", **options)


def two_tools(name: str, **options: Any) -> tuple[Variants[BaseTool], dict[str, CountingSearch]]:
    """Two search tools as variants, by user."""
    searches = {each: telling(each) for each in BOTH}
    tools = {each: search.tool for each, search in searches.items()}
    return Variants(name=name, variants=tools, key="user", **options), searches
