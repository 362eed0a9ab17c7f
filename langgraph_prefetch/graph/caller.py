"""Who calls a tool: the user's part of a run's configuration, and the context a speculation may run in."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.runtime import Runtime, get_runtime

from langgraph_prefetch.graph.said import Listening
from langgraph_prefetch.keys import Encoded, encode_caller

SPECULATION_TAG = "langgraph_prefetch:speculation"

_HOST_KEYS = frozenset({"checkpoint_ns", "checkpoint_id", "checkpoint_map"})
_HOST_PREFIX = "__pregel_"
_HOST_METADATA = ("langgraph_", "ls_", "checkpoint_", "__pregel_", "lc_")


@dataclass(frozen=True, slots=True)
class GraphCaller:
    """A :class:`~langgraph_prefetch.ports.Caller` made from a LangGraph run's configuration."""

    config: RunnableConfig
    runtime: Runtime[Any] | None = None
    own_context: Any = None
    loop: asyncio.AbstractEventLoop | None = None

    @classmethod
    def ambient(cls, loop: asyncio.AbstractEventLoop | None = None) -> GraphCaller:
        """The one whose node runs in the present context; an empty one outside a graph.

        ``loop`` is the one the graph runs on, whichever thread this is; the running one if None. A run's async tools
        belong there.
        """
        config, loop = ambient_config(), loop or running_loop()
        try:
            return cls(config or RunnableConfig(), get_runtime() if config else None, loop=loop)
        except (RuntimeError, KeyError):
            return cls(config or RunnableConfig(), loop=loop)

    @property
    def configurable(self) -> Mapping[str, Any]:
        """The user's own keys."""
        return user_configurable(self.config)

    @property
    def context(self) -> Any:
        """The graph's runtime context."""
        return self.own_context if self.runtime is None else self.runtime.context

    def key(self, ignore: tuple[str, ...]) -> Encoded:
        """Equal for callers whose configurable values (but for ``ignore``) and runtime context are equal."""
        seen = {name: value for name, value in self.configurable.items() if name not in ignore}
        return encode_caller({"configurable": seen, "context": self.context})

    def speculative_config(self, listening: Listening) -> RunnableConfig:
        """The configuration a speculation runs with; what its tool says goes to ``listening``.

        The user's keys are kept, or it would fetch another user's result. The host's are dropped: with them a tool
        could write to the run's stream, fire its events, or take an interrupt's resume value that is not meant for it.
        """
        configurable = dict(self.configurable)
        if self.runtime is not None:
            # The key under which the host keeps its runtime is its own affair: find it by what it holds.
            for name, value in self.config.get("configurable", {}).items():
                if value is self.runtime:
                    configurable[name] = replace(self.runtime, stream_writer=listening.write)
        metadata = self.config.get("metadata") or {}
        metadata = {name: value for name, value in metadata.items() if not name.startswith(_HOST_METADATA)}
        return RunnableConfig(
            configurable=configurable, metadata=metadata, tags=[SPECULATION_TAG], callbacks=[listening]
        )


def user_configurable(config: Mapping[str, Any] | None) -> dict[str, Any]:
    """The ``configurable`` values that are the user's, without those LangGraph adds."""
    values = (config or {}).get("configurable") or {}
    return {
        name: value for name, value in values.items() if name not in _HOST_KEYS and not name.startswith(_HOST_PREFIX)
    }


def ambient_config() -> RunnableConfig | None:
    """The configuration of the node that runs in the present context."""
    return var_child_runnable_config.get()


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop of the calling thread, if it runs one."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def speculative_context(config: RunnableConfig) -> contextvars.Context:
    """A copy of the present context in which ``config`` is the ambient one."""
    context = contextvars.copy_context()
    context.run(var_child_runnable_config.set, config)
    return context
