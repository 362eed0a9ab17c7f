"""A chat model that hands every call on to one of several."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import SkipValidation

from langgraph_prefetch.graph.variants.components import VariantRunnable
from langgraph_prefetch.graph.variants.given import given_to
from langgraph_prefetch.live_variants import LiveVariants

AsUsed = Callable[[BaseChatModel], BaseChatModel]


class VariantModel(BaseChatModel):
    """Chat models."""

    live: SkipValidation[Any]
    as_used: SkipValidation[AsUsed | None] = None

    @classmethod
    def over(cls, live: LiveVariants[BaseChatModel]) -> VariantModel:
        """One of these for each run."""
        return cls(live=live)

    @property
    def _llm_type(self) -> str:
        return "variants"

    def used_as(self, change: AsUsed) -> VariantModel:
        """The same, with ``change`` made to whichever model a run gets."""
        return type(self)(live=self.live, as_used=change)

    def _handing(self, change: Callable[[BaseChatModel], Any] | None = None) -> VariantRunnable:
        first = self.as_used
        if first is None or change is None:
            return VariantRunnable(self.live, first or change)
        return VariantRunnable(self.live, lambda model: change(first(model)))

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, Any]:
        """Bind the tools to whichever model a run gets."""
        return self._handing(lambda model: model.bind_tools(tools, **kwargs))

    def with_structured_output(self, schema: Any, **kwargs: Any) -> Runnable[Any, Any]:
        """Ask whichever model a run gets for structured output."""
        return self._handing(lambda model: model.with_structured_output(schema, **kwargs))

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - host's name
        """Hand the call on."""
        return self._handing().invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Hand the call on."""
        return await self._handing().ainvoke(input, config, **kwargs)

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:  # noqa: A002
        """Hand the call on."""
        yield from self._handing().stream(input, config, **kwargs)

    async def astream(
        self,
        input: Any,  # noqa: A002 - the host's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """Hand the call on."""
        async for part in self._handing().astream(input, config, **kwargs):
            yield part

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        result: ChatResult = given_to(self.live)[0]._generate(messages, stop, run_manager, **kwargs)
        return result
