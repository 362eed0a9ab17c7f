"""Search tools and callers for tests that need no graph: the ports, over plain functions."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph_prefetch.config import ToolPolicy
from langgraph_prefetch.keys import Encoded, Same, encode_caller
from langgraph_prefetch.ports import Caller, Work
from langgraph_prefetch.values import Output


@dataclass(frozen=True, slots=True)
class PlainCaller:
    """A :class:`~langgraph_prefetch.ports.Caller` with these values."""

    configurable: Mapping[str, Any] = field(default_factory=dict, hash=False)
    context: Any = None

    def key(self, ignore: tuple[str, ...] = ()) -> Encoded:
        """Equal for callers whose values (but for ``ignore``) and context are equal."""
        seen = {name: value for name, value in self.configurable.items() if name not in ignore}
        return encode_caller({"configurable": seen, "context": self.context})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One run of a tool: with what arguments, for whom, and on which thread."""

    arguments: Mapping[str, Any] = field(hash=False)
    caller: Caller
    thread: str


class FunctionSearch:
    """A :class:`~langgraph_prefetch.ports.SearchTool` over ``search(**arguments)``, which may be async.

    Args:
        search: the search itself; what it returns becomes the content, unless it is an ``Output``.
        policy: what may be done early with it.
        identity: declared identity; the tool itself if None.
        defaults: arguments filled in where the model leaves them out.
        loop: where an async search runs; the executor's own loop if None.

    Attributes:
        asked: one entry per run that began, in order.
    """

    def __init__(
        self,
        search: Callable[..., Any],
        *,
        policy: ToolPolicy | None = None,
        identity: Hashable | None = None,
        defaults: Mapping[str, Any] | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._search, self._identity, self._loop = search, identity, loop
        self._policy = policy or ToolPolicy(name="search")
        self._defaults = dict(defaults or {})
        self.asked: list[Asked] = []

    @property
    def policy(self) -> ToolPolicy:
        """What may be done early with it."""
        return self._policy

    @property
    def identity(self) -> Hashable:
        """The declared identity, or this very object."""
        return Same(self) if self._identity is None else (self._policy.name, self._identity)

    @property
    def queries(self) -> list[Any]:
        """The query of each run that began, in order."""
        return [asked.arguments.get("query") for asked in self.asked]

    def arguments_for(self, query: str) -> Mapping[str, Any] | None:
        """``query`` as the argument of that name, with the policy's fixed arguments."""
        return {**self._policy.fixed_arguments, self._policy.query_argument or "query": query}

    def complete(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """With the defaults filled in."""
        return {**self._defaults, **arguments}

    def prepare(self, arguments: Mapping[str, Any], caller: Caller) -> Work:
        """A run in a copy of the present context."""
        context = contextvars.copy_context()
        if inspect.iscoroutinefunction(self._search):
            return Work(context=context, coroutine=lambda: self.arun(arguments, caller), loop=self._loop)
        return Work(context=context, blocking=lambda: self.run(arguments, caller))

    def run(self, arguments: Mapping[str, Any], caller: Caller) -> Output:
        """Run a sync search now."""
        self._note(arguments, caller)
        return _output(self._search(**self.complete(arguments)))

    async def arun(self, arguments: Mapping[str, Any], caller: Caller) -> Output:
        """Run an async search now."""
        self._note(arguments, caller)
        return _output(await self._search(**self.complete(arguments)))

    def _note(self, arguments: Mapping[str, Any], caller: Caller) -> None:
        thread = threading.current_thread().name
        self.asked.append(Asked(arguments=arguments, caller=caller, thread=thread))


class HandDrivenSearch(FunctionSearch):
    """A search whose runs end when the test says so, on one event loop (as a ``HandDrivenLoop`` is).

    Attributes:
        pending: the runs under way as ``(arguments, caller, future)``, in the order they began; end one by its future.
    """

    def __init__(self, *, policy: ToolPolicy | None = None, loop: asyncio.AbstractEventLoop | None = None) -> None:
        super().__init__(self._never, policy=policy, loop=loop)
        self.pending: list[tuple[Mapping[str, Any], Caller, asyncio.Future[Any]]] = []

    async def arun(self, arguments: Mapping[str, Any], caller: Caller) -> Output:
        """Begin a run; its end is up to the test."""
        self._note(arguments, caller)
        entry = (arguments, caller, asyncio.get_running_loop().create_future())
        self.pending.append(entry)
        try:
            return _output(await entry[2])
        finally:
            self.pending.remove(entry)

    @staticmethod
    async def _never(**_: Any) -> None:
        raise NotImplementedError


def _output(found: Any) -> Output:
    return found if isinstance(found, Output) else Output(found)
