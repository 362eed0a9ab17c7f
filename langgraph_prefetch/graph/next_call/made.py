"""A model call that was made, as far as the next one can be made from it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.runnables.config import var_child_runnable_config
from langsmith import tracing_context

from langgraph_prefetch.graph.caller import GraphCaller
from langgraph_prefetch.graph.next_call.pieces import Overheard, Piece, Put, private_manager
from langgraph_prefetch.graph.next_call.private import PrivateCall, TaskCall, ThreadCall
from langgraph_prefetch.graph.next_call.requests import Request, fields_of, fixed
from langgraph_prefetch.ports import Clock
from langgraph_prefetch.speculative import speculating

_ASYNC = "_a"
_WHOLE = ("_generate", "_agenerate")


def _untraced() -> AbstractContextManager[None]:
    return tracing_context(enabled=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """One call.

    Attributes:
        model: the owned model.
        method: what its own class does under ``way``.
        way: the method's name.
        told: it was given a run manager.
        messages: system prompt included.
        settings: the other arguments.
        context: what was current.
        caller: the graph's configuration in it.
        loop: the event loop it ran on, where it is a coroutine.
        step: its number in the run.
    """

    model: BaseChatModel
    method: Callable[..., Any] = field(repr=False)
    way: str
    told: bool
    messages: Sequence[BaseMessage] = field(repr=False)
    settings: Mapping[str, Any] = field(repr=False)
    context: Context = field(default_factory=copy_context)
    caller: GraphCaller = field(default_factory=GraphCaller.ambient)
    loop: asyncio.AbstractEventLoop | None = None
    step: int = 0

    @property
    def is_async(self) -> bool:
        """The method is a coroutine or an asynchronous generator."""
        return self.way.startswith(_ASYNC)

    def request(self, messages: Sequence[BaseMessage]) -> Request:
        """The same with other messages."""
        return Request(
            way=self.way,
            told=self.told,
            model=type(self.model),
            fields=fields_of(self.model),
            messages=tuple(messages),
            settings=fixed(dict(self.settings)),
        )

    def in_private(
        self,
        request: Request,
        *,
        traced: bool,
        clock: Clock,
        wanted: Callable[[], bool],
        on_stop: Callable[[PrivateCall], None],
    ) -> tuple[PrivateCall, UUID]:
        """A call of this kind that nobody hears; and the id that it has in place of the real run's."""
        run_id = uuid4()

        def begin(put: Put) -> Any:
            settings = dict(self.settings)
            if self.told:
                settings["run_manager"] = private_manager(put, run_id, is_async=self.is_async)
            return self.method(self.model, list(request.messages), **settings)

        context = self.context.copy()
        # The call is not there yet when what it says must know where to go.
        put_later: list[Put] = []

        def put(piece: Piece) -> None:
            put_later[0](piece)

        context.run(var_child_runnable_config.set, self.caller.speculative_config(Overheard(put)))
        context.run(speculating.set, True)
        how: dict[str, Any] = {
            "around": nullcontext if traced else _untraced,
            "whole": self.way in _WHOLE,
            "clock": clock,
            "wanted": wanted,
            "on_stop": on_stop,
        }
        call: PrivateCall
        if self.is_async and self.loop is not None:
            call = TaskCall(begin, context, loop=self.loop, **how)
        else:
            call = ThreadCall(begin, context, **how)
        put_later.append(call.put)
        return call, run_id
