"""What a worker searches with, and how a search of it gives exactly what the agent's own tool would give."""

from __future__ import annotations

import importlib
import inspect
import uuid
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool

from langgraph_prefetch.aws.threads import Threads
from langgraph_prefetch.errors import NotServableError, RetrieverError, UnreadableItemError
from langgraph_prefetch.handing import has_own_async
from langgraph_prefetch.jobs import Form, Job
from langgraph_prefetch.speculative import speculating
from langgraph_prefetch.values import Output

Search = Callable[[Job], Any]


def load_retriever(name: str) -> Any:
    """Import ``module:object``.

    Raises:
        RetrieverError: it is not written so, or cannot be imported; the message says which.
    """
    module_name, _, path = name.partition(":")
    if not module_name or not path:
        raise RetrieverError(f"a retriever is named module:object, such as my_tools:search, not {name!r}")
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:  # whatever the module does when it is imported
        raise RetrieverError(
            f"module {module_name!r} of the retriever cannot be imported ({type(error).__name__}: {error}). "
            "It must be on the worker's PYTHONPATH"
        ) from error
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise RetrieverError(f"module {module_name!r} has no {path!r}") from None
    return found


class Searches:
    """Runs jobs.

    Args:
        held: a LangChain tool or retriever; a function from a :class:`~langgraph_prefetch.jobs.Job` to an
            :class:`~langgraph_prefetch.values.Output` (or its content), plain or a coroutine function; or a mapping
            from the names of tools to any of these.
        threads: where those run that have no asynchronous form.

    Raises:
        RetrieverError: ``held`` is none of these.
    """

    def __init__(self, held: Any, threads: Threads) -> None:
        self._threads = threads
        self._by_name: dict[str, Any] | None = None
        self._held = held
        if isinstance(held, Mapping):
            self._by_name = {str(name): _checked(each) for name, each in held.items()}
            if not self._by_name:
                raise RetrieverError("an empty mapping searches nothing")
        else:
            _checked(held)

    async def run(self, job: Job) -> Output:
        """Carry out a job.

        Raises:
            UnreadableItemError: this worker has no such tool, or its output has not that form.
            Exception: whatever the search raises.
        """
        held = self._named(job)
        if isinstance(held, BaseTool):
            return await self._tool(held, job)
        if isinstance(held, BaseRetriever):
            return await self._retriever(held, job)
        speculating.set(True)
        found = await held(job) if inspect.iscoroutinefunction(held) else await self._in_thread(lambda: held(job))
        return found if isinstance(found, Output) else Output(found)

    def _named(self, job: Job) -> Any:
        if self._by_name is not None:
            if job.tool not in self._by_name:
                raise UnreadableItemError("this worker has no tool of that name")
            return self._by_name[job.tool]
        if isinstance(self._held, BaseTool) and self._held.name != job.tool:
            raise UnreadableItemError("this worker has no tool of that name")
        return self._held

    async def _tool(self, tool: BaseTool, job: Job) -> Output:
        if job.form is Form.DOCUMENTS:
            raise UnreadableItemError("this worker has a tool where the agent has a retriever")
        call_id = f"speculation-{uuid.uuid4().hex}"
        arguments = dict(job.arguments)
        given: Any = arguments
        if job.form is Form.MESSAGE:
            given = {"type": "tool_call", "name": tool.name, "id": call_id, "args": arguments}
        said = _Said()
        result = await self._invoked(tool, given, _config(job, said), own_async=has_own_async(tool))
        if said.anything:
            raise NotServableError("the tool said something to its run")
        if job.form is Form.RESULT:
            return Output(result)
        if not isinstance(result, ToolMessage) or result.tool_call_id != call_id or result.status == "error":
            raise NotServableError("the tool gave no message that another call may be answered with")
        return Output(result.content, result.artifact)

    async def _retriever(self, retriever: BaseRetriever, job: Job) -> Output:
        if job.form is not Form.DOCUMENTS or not isinstance(job.arguments.get("query"), str):
            raise UnreadableItemError("this worker has a retriever where the agent has a tool")
        rest = {name: value for name, value in job.arguments.items() if name != "query"}
        own_async, config = has_own_async(retriever), _config(job, _Said())
        return Output(await self._invoked(retriever, job.arguments["query"], config, own_async=own_async, **rest))

    async def _invoked(
        self, held: BaseTool | BaseRetriever, given: Any, config: RunnableConfig, *, own_async: bool, **rest: Any
    ) -> Any:
        speculating.set(True)
        if own_async:
            return await held.ainvoke(given, config, **rest)
        return await self._in_thread(lambda: held.invoke(given, config, **rest))

    async def _in_thread(self, call: Callable[[], Any]) -> Any:
        def run() -> Any:
            speculating.set(True)
            return call()

        return await self._threads.run(run)


class _Said(BaseCallbackHandler):
    """Notes whether a tool dispatched an event, which only the agent's own run could hear."""

    run_inline = True

    def __init__(self) -> None:
        self.anything = False

    def on_custom_event(self, name: str, data: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self.anything = True


def _config(job: Job, said: _Said) -> RunnableConfig:
    return RunnableConfig(
        configurable=dict(job.configurable), callbacks=[said], tags=["langgraph_prefetch:speculation"]
    )


def _checked(held: Any) -> Any:
    if isinstance(held, BaseTool | BaseRetriever):
        return held
    if isinstance(held, type) or not callable(held):
        raise RetrieverError(
            "a worker searches with a LangChain tool or retriever, a function of a Job, or a mapping from names of "
            f"tools to these, not with {type(held).__name__}"
        )
    try:
        inspect.signature(held).bind(object())
    except TypeError:
        raise RetrieverError(
            "a function to search with takes one argument, the Job: def search(job: Job) -> Output"
        ) from None
    except ValueError:  # a builtin without a signature
        return held
    return held
