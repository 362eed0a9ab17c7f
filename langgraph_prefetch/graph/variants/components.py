"""Components that hand every call on to one of several variants, with the events of the one they hand it to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.graph.variants.given import given_to, marked
from langgraph_prefetch.handing import Change, HandingRetriever, HandingTool, TellsEpoch, tells_epoch
from langgraph_prefetch.live_variants import LiveVariants


class VariantHandler:
    """Hands calls on to the variant that the run they belong to was given.

    Args:
        live: the variants.
        as_used: what is done to the variant before anything else, such as to let it belong to a prefetcher.
    """

    def __init__(self, live: LiveVariants[Any], as_used: Change | None = None) -> None:
        self.live, self._as_used = live, as_used

    def used_as(self, change: Change) -> VariantHandler:
        """The same variants, with ``change`` made to whichever a run gets."""
        return VariantHandler(self.live, change)

    def behind(self) -> tuple[Any, ...]:
        """The variants, as things stand."""
        return tuple(self.live.table.components.values())

    def meant_for(self, config: RunnableConfig | None) -> tuple[Any, str | None]:
        """The variant of a call, and its name."""
        component, assignment = given_to(self.live, config)
        return component if self._as_used is None else self._as_used(component), assignment.variant

    def invoke(self, given: Any, config: RunnableConfig | None, change: Change | None = None, **kwargs: Any) -> Any:
        """Hand the call on."""
        chosen, config = self._handed(config, change)
        return chosen.invoke(given, config, **kwargs)

    async def ainvoke(
        self, given: Any, config: RunnableConfig | None, change: Change | None = None, **kwargs: Any
    ) -> Any:
        """Hand the call on."""
        chosen, config = self._handed(config, change)
        return await chosen.ainvoke(given, config, **kwargs)

    def stream(
        self, given: Any, config: RunnableConfig | None, change: Change | None = None, **kwargs: Any
    ) -> Iterator[Any]:
        """Hand the call on."""
        chosen, config = self._handed(config, change)
        yield from chosen.stream(given, config, **kwargs)

    async def astream(
        self, given: Any, config: RunnableConfig | None, change: Change | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        """Hand the call on."""
        chosen, config = self._handed(config, change)
        async for part in chosen.astream(given, config, **kwargs):
            yield part

    def _handed(
        self, config: RunnableConfig | None, change: Change | None
    ) -> tuple[Runnable[Any, Any], RunnableConfig]:
        component, assignment = given_to(self.live, config)
        for each in (self._as_used, change):
            component = component if each is None else each(component)
        return component, marked(config, assignment)


class DatedVariantRetriever(TellsEpoch, HandingRetriever):
    """Retrievers of which one or more can tell that what they search has changed."""


class DatedVariantTool(TellsEpoch, HandingTool):
    """Tools of which one or more can tell that what they search has changed."""


def retriever_over(live: LiveVariants[BaseRetriever]) -> HandingRetriever:
    """One of these retrievers for each run."""
    kind = DatedVariantRetriever if tells_epoch(live.table.components.values()) else HandingRetriever
    return kind(name=live.table.experiment.name, handler=VariantHandler(live))


def tool_over(live: LiveVariants[BaseTool]) -> HandingTool:
    """One of these tools for each run.

    Raises:
        ConfigurationError: they differ in what the model or the graph sees of them.
    """
    first, *others = live.table.components.items()
    for name, tool in others:
        for about, one, other in zip(_ABOUT, _seen_of(first[1]), _seen_of(tool), strict=True):
            if one != other:
                raise ConfigurationError(
                    f"variants {first[0]!r} and {name!r} differ in {about}: {_brief(one)} and {_brief(other)}. One "
                    "tool has one; if that is what you compare, make it a variant of the model's tools instead"
                )
    kind = DatedVariantTool if tells_epoch(live.table.components.values()) else HandingTool
    return kind.like(first[1], VariantHandler(live))


_ABOUT = ("name", "description", "arguments", "response format", "return_direct")


def _seen_of(tool: BaseTool) -> tuple[object, ...]:
    return tool.name, tool.description, tool.args, tool.response_format, tool.return_direct


def _brief(value: object) -> str:
    return ", ".join(value) or "none" if isinstance(value, dict) else repr(value)
