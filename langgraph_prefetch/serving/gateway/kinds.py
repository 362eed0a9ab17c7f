"""A gateway is what it stands for: a chat model, a retriever, a tool, or any other runnable."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    CallbackManagerForLLMRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool
from pydantic import SkipValidation

from langgraph_prefetch.serving.gateway.core import Gateway
from langgraph_prefetch.serving.gateway.steps import Change

_NO_RUN = "invoke() and stream() go to the component"


class GatedRunnable(Runnable[Any, Any]):
    """Any runnable; also a gated chat model with tools bound to it."""

    def __init__(self, gateway: Gateway, change: Change | None = None) -> None:
        self.gateway, self._change = gateway, change

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - host's name
        """Call whichever component answers."""
        return self.gateway.invoke(input, config, self._change, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Call whichever component answers."""
        return await self.gateway.ainvoke(input, config, self._change, **kwargs)

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:  # noqa: A002
        """Stream from whichever component begins to answer."""
        return self.gateway.stream(input, config, self._change, **kwargs)

    async def astream(
        self,
        input: Any,  # noqa: A002 - the host's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """Stream from whichever component begins to answer."""
        async for part in self.gateway.astream(input, config, self._change, **kwargs):
            yield part


class GatedModel(BaseChatModel):
    """A chat model."""

    gateway: SkipValidation[Any]

    @property
    def _llm_type(self) -> str:
        return "gateway"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, Any]:
        """Bind the tools to whichever model answers."""
        return GatedRunnable(self.gateway, lambda model: model.bind_tools(tools, **kwargs))

    def with_structured_output(self, schema: Any, **kwargs: Any) -> Runnable[Any, Any]:
        """Ask whichever model answers for structured output."""
        return GatedRunnable(self.gateway, lambda model: model.with_structured_output(schema, **kwargs))

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - host's name
        """Call whichever model answers."""
        return self.gateway.invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Call whichever model answers."""
        return await self.gateway.ainvoke(input, config, **kwargs)

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:  # noqa: A002
        """Stream from whichever model begins to answer."""
        yield from self.gateway.stream(input, config, **kwargs)

    async def astream(
        self,
        input: Any,  # noqa: A002 - the host's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """Stream from whichever model begins to answer."""
        async for part in self.gateway.astream(input, config, **kwargs):
            yield part

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        stops = {} if stop is None else {"stop": stop}
        return _as_result(self.gateway.invoke(messages, None, **stops, **kwargs))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        stops = {} if stop is None else {"stop": stop}
        return _as_result(await self.gateway.ainvoke(messages, None, **stops, **kwargs))


class GatedRetriever(BaseRetriever):
    """A retriever."""

    gateway: SkipValidation[Any]

    def invoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:  # noqa: A002
        """Ask whichever retriever answers."""
        found: list[Document] = self.gateway.invoke(input, config, **kwargs)
        return found

    async def ainvoke(
        self,
        input: str,  # noqa: A002 - the host's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Ask whichever retriever answers."""
        found: list[Document] = await self.gateway.ainvoke(input, config, **kwargs)
        return found

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        raise NotImplementedError(_NO_RUN)


class GatedTool(BaseTool):
    """A tool."""

    gateway: SkipValidation[Any]

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - host's name
        """Call whichever tool answers."""
        return self.gateway.invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Call whichever tool answers."""
        return await self.gateway.ainvoke(input, config, **kwargs)

    def run(self, tool_input: Any, *args: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Call whichever tool answers."""
        return self.gateway.invoke(tool_input, config)

    async def arun(self, tool_input: Any, *args: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Call whichever tool answers."""
        return await self.gateway.ainvoke(tool_input, config)

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(_NO_RUN)


def _as_result(message: BaseMessage) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=message)])
