"""Variants of one component, each run served by one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.experiments import Assignment, Experiment, Key
from langgraph_prefetch.graph.variants.components import VariantHandler, retriever_over, tool_over
from langgraph_prefetch.graph.variants.given import given_to
from langgraph_prefetch.graph.variants.models import VariantModel
from langgraph_prefetch.handing import HandingRunnable
from langgraph_prefetch.live_variants import LiveVariants

T = TypeVar("T")


class Variants(Generic[T]):
    """Two retrievers, models, tools, prompts or settings, of which a run gets one, always the same for the same key.

    ::

        searches = Variants(name="reranker", variants={"without": plain, "with": reranked}, key="user_id")
        agent = with_prefetch(create_agent(model, [searches.tool()]), tools=["search"])

    Who is assigned is told by the run's trusted ``configurable`` values alone. A run keeps what it began with where a
    prefetcher listens to it; elsewhere each call is assigned anew, which :meth:`swap` alone can make a difference to.
    Results of one variant answer no call of another.

    Args:
        name: of the experiment; the same name deals out the same keys alike.
        variants: the components by name; their order is that of the weights.
        key: a name under ``configurable``, or a function from that mapping; texts, whole numbers, UUIDs.
        weights: of each variant, in any unit; equal ones if None.
        default: the variant of runs without a key; the first if None.
        separate_results: False only for what cannot change a tool's result, such as a prompt: then variants may share
            results where a scope allows it.

    Raises:
        ConfigurationError: no variants, weights that are none, an unknown default.
    """

    def __init__(
        self,
        *,
        name: str,
        variants: Mapping[str, T],
        key: Key = "thread_id",
        weights: Mapping[str, float] | None = None,
        default: str | None = None,
        separate_results: bool = True,
    ) -> None:
        if not isinstance(variants, Mapping) or not variants:
            raise ConfigurationError(f"variants takes the components by name, not {type(variants).__name__}")
        shares = dict.fromkeys(variants, 1.0) if weights is None else dict(weights)
        # In the order of the components, however the weights are written down.
        shares = {**{each: shares[each] for each in variants if each in shares}, **shares}
        experiment = Experiment(name=name, weights=shares, key=key, default=default)
        self._live = LiveVariants(experiment, variants, separate=separate_results)
        self._kind: type[Any] | None = None

    @property
    def experiment(self) -> Experiment:
        """Who gets which, as things stand."""
        return self._live.table.experiment

    @property
    def components(self) -> Mapping[str, T]:
        """The components by name, as things stand."""
        return self._live.table.components

    def of(self, config: RunnableConfig | None = None) -> T:
        """The component of a run: of ``config``, else of the one in whose name this code runs."""
        return given_to(self._live, config)[0]

    def assignment(self, config: RunnableConfig | None = None) -> Assignment:
        """Which variant a run gets, and by what key."""
        return given_to(self._live, config)[1]

    def swap(self, variants: Mapping[str, T] | None = None, *, weights: Mapping[str, float] | None = None) -> None:
        """Replace components, weights or both, at once, for the runs that begin from now on.

        A component under a name that is there replaces that one, and what was read with it answers no later run. A new
        name joins with a weight of its own; one that is left out of ``weights`` leaves.

        Raises:
            ConfigurationError: a weight without a component; a component of another kind; all weights 0.
        """
        for name, each in (variants or {}).items():
            if self._kind is not None:
                _require(self._kind, name, each)
        self._live.swap(variants, weights=weights)

    def conclude(self, variant: str) -> None:
        """End the experiment: every run from now on gets this variant, and no run is told of an assignment.

        Raises:
            ConfigurationError: no variant of that name.
        """
        self._live.conclude(variant)

    def retriever(self) -> BaseRetriever:
        """A retriever that is, for each run, one of the variants.

        Raises:
            ConfigurationError: a variant that is no LangChain retriever.
        """
        self._all(BaseRetriever)
        return retriever_over(cast("LiveVariants[BaseRetriever]", self._live))

    def tool(self) -> BaseTool:
        """A tool that is, for each run, one of the variants: of the same name, arguments and response format.

        Raises:
            ConfigurationError: a variant that is no LangChain tool, or that a model would have to call differently.
        """
        self._all(BaseTool)
        return tool_over(cast("LiveVariants[BaseTool]", self._live))

    def model(self) -> BaseChatModel:
        """A chat model that is, for each run, one of the variants, tools bound to whichever it is.

        Raises:
            ConfigurationError: a variant that is no LangChain chat model.
        """
        self._all(BaseChatModel)
        return VariantModel.over(cast("LiveVariants[BaseChatModel]", self._live))

    def runnable(self) -> Runnable[Any, Any]:
        """A runnable that is, for each run, one of the variants: prompts, chains, anything with ``invoke``.

        Raises:
            ConfigurationError: a variant that is no LangChain runnable.
        """
        self._all(Runnable)
        return HandingRunnable(VariantHandler(self._live))

    def _all(self, kind: type[Any]) -> None:
        for name, each in self._live.table.components.items():
            _require(kind, name, each)
        self._kind = kind


def _require(kind: type[Any], name: str, component: object) -> None:
    if not isinstance(component, kind):
        raise ConfigurationError(f"variant {name!r} is a {type(component).__name__}, not a {kind.__name__}")
