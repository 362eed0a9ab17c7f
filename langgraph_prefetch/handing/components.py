"""Runnables, retrievers and tools that hand every call on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Self

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tools import BaseTool
from pydantic import SkipValidation

from langgraph_prefetch.handing.handler import Change, Handler

_NO_RUN = "invoke() and stream() go to the component"


class HandingRunnable(Runnable[Any, Any]):
    """Any runnable; also a chat model to which something is done before each call."""

    def __init__(self, handler: Handler, change: Change | None = None) -> None:
        self.handler, self._change = handler, change

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - host's name
        """Hand the call on."""
        return self.handler.invoke(input, config, self._change, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Hand the call on."""
        return await self.handler.ainvoke(input, config, self._change, **kwargs)

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:  # noqa: A002
        """Hand the call on."""
        return self.handler.stream(input, config, self._change, **kwargs)

    async def astream(
        self,
        input: Any,  # noqa: A002 - the host's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """Hand the call on."""
        async for part in self.handler.astream(input, config, self._change, **kwargs):
            yield part


class HandingRetriever(BaseRetriever):
    """A retriever."""

    handler: SkipValidation[Any]

    def invoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:  # noqa: A002
        """Hand the call on."""
        found: list[Document] = self.handler.invoke(input, config, **kwargs)
        return found

    async def ainvoke(
        self,
        input: str,  # noqa: A002 - the host's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Hand the call on."""
        found: list[Document] = await self.handler.ainvoke(input, config, **kwargs)
        return found

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        raise NotImplementedError(_NO_RUN)


def seen_as(tool: BaseTool) -> dict[str, Any]:
    """What makes a model and a graph see another tool as they see ``tool``."""
    return {
        "name": tool.name,
        "description": tool.description,
        "args_schema": tool.args_schema,
        "response_format": tool.response_format,
        "return_direct": tool.return_direct,
    }


class HandingTool(BaseTool):
    """A tool."""

    handler: SkipValidation[Any]

    @classmethod
    def like(cls, tool: BaseTool, handler: Handler) -> Self:
        """One that a model and a graph see as they see ``tool``."""
        return cls(handler=handler, **seen_as(tool))

    @property
    def func(self) -> Callable[..., Any] | None:
        """That of the tool it looks like, from which the host reads what to inject; calls never go to it."""
        return getattr(self.handler.behind()[0], "func", None)

    @property
    def coroutine(self) -> Callable[..., Any] | None:
        """As ``func``."""
        return getattr(self.handler.behind()[0], "coroutine", None)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002 - host's name
        """Hand the call on."""
        return self.handler.invoke(input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Hand the call on."""
        return await self.handler.ainvoke(input, config, **kwargs)

    def run(self, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
        """Hand the call on, with the configuration and the call's id that are among the arguments."""
        return self.handler.invoke(*self._as_call(tool_input, kwargs))

    async def arun(self, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
        """Hand the call on, with the configuration and the call's id that are among the arguments."""
        return await self.handler.ainvoke(*self._as_call(tool_input, kwargs))

    def _as_call(self, given: Any, kwargs: dict[str, Any]) -> tuple[Any, RunnableConfig]:
        told = {name: kwargs[name] for name in _CONFIGURED if kwargs.get(name) is not None}
        config: Any = {**(kwargs.get("config") or {}), **told}
        call_id = kwargs.get("tool_call_id")
        if call_id is None:
            return given, config
        arguments = given if isinstance(given, dict) else {next(iter(self.args)): given}
        return {"type": "tool_call", "name": self.name, "id": call_id, "args": arguments}, config

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(_NO_RUN)


_CONFIGURED = ("callbacks", "tags", "metadata", "run_name", "run_id")
"""Arguments of a tool's ``run`` that are parts of a configuration."""
