"""Components that hand every call on to one of several, with the events of the one they hand it to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Hashable, Iterator
from typing import Any, TypeVar

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool
from pydantic import SkipValidation

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.graph.variants.given import given_to, marked
from langgraph_prefetch.live_variants import LiveVariants
from langgraph_prefetch.ports import HasEpoch

Handed = TypeVar("Handed", bound=Runnable[Any, Any])
_NO_RUN = "invoke() and stream() go to the variant"


def handed(
    live: LiveVariants[Handed], config: RunnableConfig | None, as_used: Callable[[Handed], Handed] | None = None
) -> tuple[Handed, RunnableConfig]:
    """The variant of a call, and the configuration under which it is called."""
    component, assignment = given_to(live, config)
    return (as_used(component) if as_used is not None else component), marked(config, assignment)


class VariantRunnable(Runnable[Any, Any]):
    """Any runnables. ``as_used``: what is done to the variant before it is called, such as binding tools to it."""

    def __init__(self, live: LiveVariants[Any], as_used: Callable[[Any], Runnable[Any, Any]] | None = None) -> None:
        self._live, self._as_used = live, as_used

    def _handed(self, config: RunnableConfig | None) -> tuple[Runnable[Any, Any], RunnableConfig]:
        return handed(self._live, config, self._as_used)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - host's name
        """Hand the call on."""
        chosen, config = self._handed(config)
        return chosen.invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Hand the call on."""
        chosen, config = self._handed(config)
        return await chosen.ainvoke(input, config, **kwargs)

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:  # noqa: A002
        """Hand the call on."""
        chosen, config = self._handed(config)
        yield from chosen.stream(input, config, **kwargs)

    async def astream(
        self,
        input: Any,  # noqa: A002 - the host's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """Hand the call on."""
        chosen, config = self._handed(config)
        async for part in chosen.astream(input, config, **kwargs):
            yield part


class VariantRetriever(BaseRetriever):
    """Retrievers."""

    live: SkipValidation[Any]

    @classmethod
    def over(cls, live: LiveVariants[BaseRetriever]) -> VariantRetriever:
        """One of these for each run."""
        dated = any(isinstance(each, HasEpoch) for each in live.table.components.values())
        return (DatedVariantRetriever if dated else cls)(name=live.table.experiment.name, live=live)

    def invoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:  # noqa: A002
        """Hand the call on."""
        chosen, config = handed(self.live, config)
        found: list[Document] = chosen.invoke(input, config, **kwargs)
        return found

    async def ainvoke(
        self,
        input: str,  # noqa: A002 - the host's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Hand the call on."""
        chosen, config = handed(self.live, config)
        found: list[Document] = await chosen.ainvoke(input, config, **kwargs)
        return found

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        raise NotImplementedError(_NO_RUN)


class VariantTool(BaseTool):
    """Tools that a model calls alike."""

    live: SkipValidation[Any]

    @classmethod
    def over(cls, live: LiveVariants[BaseTool]) -> VariantTool:
        """One of these for each run.

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
        tool = first[1]
        dated = any(isinstance(each, HasEpoch) for each in live.table.components.values())
        return (DatedVariantTool if dated else cls)(
            name=tool.name,
            description=tool.description,
            args_schema=tool.args_schema,
            response_format=tool.response_format,
            return_direct=tool.return_direct,
            live=live,
        )

    @property
    def tools(self) -> tuple[BaseTool, ...]:
        """The variants, as things stand."""
        return tuple(self.live.table.components.values())

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - host's name
        """Hand the call on."""
        chosen, config = handed(self.live, config)
        return chosen.invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Hand the call on."""
        chosen, config = handed(self.live, config)
        return await chosen.ainvoke(input, config, **kwargs)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Hand the call on."""
        return given_to(self.live)[0].run(*args, **kwargs)

    async def arun(self, *args: Any, **kwargs: Any) -> Any:
        """Hand the call on."""
        return await given_to(self.live)[0].arun(*args, **kwargs)

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(_NO_RUN)


class _Dated:
    """Tells the epoch of the variant that a caller gets; one that tells none stands still."""

    live: Any

    def epoch(self, caller: Any) -> Hashable | None:
        """The variant's own, with its name: equal numbers of two variants are not the same epoch."""
        chosen, assignment = given_to(self.live, getattr(caller, "config", None))
        told = chosen.epoch(caller) if isinstance(chosen, HasEpoch) else 0
        return None if told is None else (assignment.variant, told)

    async def aepoch(self, caller: Any) -> Hashable | None:
        """As ``epoch``, without blocking the event loop."""
        chosen, assignment = given_to(self.live, getattr(caller, "config", None))
        told = await chosen.aepoch(caller) if isinstance(chosen, HasEpoch) else 0
        return None if told is None else (assignment.variant, told)


class DatedVariantTool(_Dated, VariantTool):
    """Tools of which one or more can tell that what they search has changed."""


class DatedVariantRetriever(_Dated, VariantRetriever):
    """Retrievers of which one or more can tell that what they search has changed."""


_ABOUT = ("name", "description", "arguments", "response format", "return_direct")


def _seen_of(tool: BaseTool) -> tuple[object, ...]:
    return tool.name, tool.description, tool.args, tool.response_format, tool.return_direct


def _brief(value: object) -> str:
    return ", ".join(value) or "none" if isinstance(value, dict) else repr(value)
