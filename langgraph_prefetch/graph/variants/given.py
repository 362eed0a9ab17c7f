"""What the run in whose name the present code runs was given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig

from langgraph_prefetch.experiments import Assignment
from langgraph_prefetch.graph.arrival import handlers_of
from langgraph_prefetch.graph.callback import StreamListener
from langgraph_prefetch.graph.caller import ambient_config, user_configurable
from langgraph_prefetch.graph.current import current_runs
from langgraph_prefetch.live_variants import LiveVariants, Pinned, pinned

T = TypeVar("T")

METADATA = "langgraph_prefetch.variant."
"""With the experiment's name after it: the key in a run's metadata that names its variant."""


def given_to(live: LiveVariants[T], config: RunnableConfig | None = None) -> tuple[T, Assignment]:
    """The component, and what says why: what the run began with, else as things stand for these trusted values."""
    for each in _pins(config):
        if live in each.given:
            table, assignment = each.given[live]
            return table.components[assignment.variant], assignment
    table = live.table
    own = config if config and "configurable" in config else ambient_config()
    assignment = table.experiment.assign(user_configurable(own))
    return table.components[assignment.variant], assignment


def marked(config: RunnableConfig | None, assignment: Assignment) -> RunnableConfig:
    """``config`` under which callbacks and traces see the variant."""
    metadata: Mapping[str, Any] = (config or {}).get("metadata") or {}
    return {**(config or {}), "metadata": {**metadata, METADATA + assignment.experiment: assignment.variant}}


def _pins(config: RunnableConfig | None) -> list[Pinned]:
    found = [each] if (each := pinned.get()) is not None else []
    for place in (config, ambient_config()):
        callbacks = (place or {}).get("callbacks")
        for handler in reversed(handlers_of(callbacks)):
            if isinstance(handler, StreamListener):
                run = handler.run_of(getattr(callbacks, "parent_run_id", None))
                if run is not None:
                    found.append(run.session.given)
    found += [run.session.given for run in reversed(current_runs.get())]
    return found
