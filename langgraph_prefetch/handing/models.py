"""Chat models that hand every call on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool
from pydantic import SkipValidation

from langgraph_prefetch.handing.components import HandingRunnable


class HandingModel(BaseChatModel):
    """A chat model, to which tools and schemas are bound as to any other: whichever answers has them."""

    handler: SkipValidation[Any]

    @property
    def _llm_type(self) -> str:
        return "handing"

    def bind_tools(self, tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool], **kwargs: Any) -> Any:
        """Bind the tools to whichever model answers."""
        return HandingRunnable(self.handler, lambda model: model.bind_tools(tools, **kwargs))

    def with_structured_output(self, schema: Any, **kwargs: Any) -> Runnable[Any, Any]:
        """Ask whichever model answers for structured output."""
        return HandingRunnable(self.handler, lambda model: model.with_structured_output(schema, **kwargs))

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - host's name
        """Hand the call on."""
        return self.handler.invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Hand the call on."""
        return await self.handler.ainvoke(input, config, **kwargs)

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:  # noqa: A002
        """Hand the call on."""
        yield from self.handler.stream(input, config, **kwargs)

    async def astream(
        self,
        input: Any,  # noqa: A002 - the host's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """Hand the call on."""
        async for part in self.handler.astream(input, config, **kwargs):
            yield part

    # What asks a model for many answers at once comes here, below the events that it fires itself.
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return _as_result(self.handler.invoke(messages, None, **_stops(stop), **kwargs))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return _as_result(await self.handler.ainvoke(messages, None, **_stops(stop), **kwargs))


def _stops(stop: list[str] | None) -> dict[str, Any]:
    return {} if stop is None else {"stop": stop}


def _as_result(message: BaseMessage) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=message)])
