"""A chat model that hands every call on to one of several."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult

from langgraph_prefetch.graph.variants.components import VariantHandler
from langgraph_prefetch.handing import Change, HandingModel
from langgraph_prefetch.live_variants import LiveVariants


class VariantModel(HandingModel):
    """Chat models."""

    @classmethod
    def over(cls, live: LiveVariants[BaseChatModel]) -> VariantModel:
        """One of these for each run."""
        return cls(handler=VariantHandler(live))

    @property
    def _llm_type(self) -> str:
        return "variants"

    def used_as(self, change: Change) -> VariantModel:
        """The same, with ``change`` made to whichever model a run gets."""
        return type(self)(handler=self.handler.used_as(change))

    # Straight to the variant's own, so that its tokens are those of the run that was asked.
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        result: ChatResult = self.handler.meant_for(None)[0]._generate(messages, stop, run_manager, **kwargs)
        return result

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        result: ChatResult = await self.handler.meant_for(None)[0]._agenerate(messages, stop, run_manager, **kwargs)
        return result
