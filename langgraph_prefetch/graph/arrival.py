"""One call on its way to a tool: asked of the engine first, and every failure of the engine's kept from the caller."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from contextlib import ExitStack
from typing import Any

from langgraph.errors import GraphBubbleUp

from langgraph_prefetch.graph.callback import StreamListener
from langgraph_prefetch.graph.caller import running_loop
from langgraph_prefetch.graph.guard import Guard
from langgraph_prefetch.graph.marks import marks_of
from langgraph_prefetch.live_variants import pinned
from langgraph_prefetch.ports import Caller, SearchTool
from langgraph_prefetch.prefetcher import PrefetchEngine, Run
from langgraph_prefetch.speculation.call import SearchCall
from langgraph_prefetch.values import Output


class Arrival:
    """One call of a tool. Nothing here raises but what the tool itself raises.

    Args:
        engine: answers.
        run: the agent run the call belongs to; None if none is listened to.
        name: of the tool.
        tool: the named tool, if what is called is the very one that may run early.
        arguments: as the model wrote them.
        call_id: the model's id of the call.
        caller: whose configuration the tool would read.
        batch: names the calls that run at the same time as this one; None if it runs alone.
    """

    __slots__ = ("_batch", "_call", "_engine", "_is_search", "_name", "_run")

    def __init__(
        self,
        engine: PrefetchEngine,
        run: Run | None,
        name: str,
        tool: SearchTool | None,
        arguments: Mapping[str, Any],
        call_id: str | None,
        caller: Caller,
        batch: Hashable | None = None,
    ) -> None:
        self._engine, self._run, self._name = engine, run, name
        self._batch = batch
        self._call: SearchCall | None = None
        self._is_search = tool is not None
        if run is None:
            return
        if tool is None:
            self._void()
            return
        with Guard(engine, "arrival"):
            self._call = run.call(tool, arguments, call_id, caller, batch)

    def answer(self) -> Output | None:
        """What was prefetched; None: run the tool, inside :meth:`running`. Blocks while it is under way."""
        output: Output | None = None
        if self._call is not None:
            with Guard(self._engine, "answer"):
                # On an event loop's own thread waiting could keep the retrieval itself from going on.
                output = self._call.answer(may_wait=running_loop() is None)
                self._remember(output)
        return output

    async def aanswer(self) -> Output | None:
        """:meth:`answer` without blocking the loop."""
        output: Output | None = None
        if self._call is not None:
            with Guard(self._engine, "answer"):
                output = await self._call.aanswer()
                self._remember(output)
        return output

    @property
    def run(self) -> Run | None:
        """The agent run it belongs to."""
        return self._run

    @property
    def call(self) -> SearchCall | None:
        """What the engine knows of it; None of a tool that was not named."""
        return self._call

    @property
    def marks(self) -> dict[str, Any]:
        """What a served call's run is to say of itself; nothing without the option ``mark_served``."""
        answered = self._call.answered if self._call is not None and self._engine.options.mark_served else None
        return marks_of(answered) if answered is not None else {}

    def running(self) -> Running:
        """Around the tool's own run: counts it and its failure; around another tool: voids what was read before."""
        return Running(self)

    def ran(self, output: Output | None, *, failed: bool = False) -> None:
        """The tool ran; ``output`` is None where another call could not be answered with what it gave."""
        if self._call is not None:
            with Guard(self._engine, "ran"):
                self._call.ran(output, failed=failed)
                self._remember(output)

    def refuse(self, reason: str) -> None:
        """The tool turned out to be none that may run early."""
        if self._is_search:
            with Guard(self._engine, "refusal"):
                self._engine.refuse(self._name, reason)

    def _remember(self, output: Output | None) -> None:
        if output is not None and self._run is not None and self._call is not None:
            self._run.answered(self._call, output)

    def _void(self) -> None:
        if self._run is not None and not self._is_search:
            with Guard(self._engine, "other tool"):
                self._run.other_tool(self._name, self._batch)


class Running:
    """While a tool runs. See :meth:`Arrival.running`."""

    __slots__ = ("_arrival", "_stack")

    def __init__(self, arrival: Arrival) -> None:
        self._arrival, self._stack = arrival, ExitStack()

    def __enter__(self) -> None:
        call = self._arrival._call
        with Guard(self._arrival._engine, "running"):
            if call is not None:
                self._stack.enter_context(call.running())
            if call is not None and self._arrival._run is not None:
                # What runs now is kept under a key that says what the run was given: it must see the very same.
                token = pinned.set(self._arrival._run.session.given)
                self._stack.callback(pinned.reset, token)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        with Guard(self._arrival._engine, "running"):
            self._stack.__exit__(kind, error, None)
        if error is not None and not isinstance(error, GraphBubbleUp):
            self._arrival.ran(None, failed=True)
        self._arrival._void()


def run_in(engine: PrefetchEngine, callbacks: Any) -> Run | None:
    """The run of ``engine`` that ``callbacks`` (a list or a manager) belong to."""
    for handler in handlers_of(callbacks):
        if isinstance(handler, StreamListener) and handler.engine is engine:
            return handler.run_of(getattr(callbacks, "parent_run_id", None))
    return None


def handlers_of(callbacks: Any) -> list[Any]:
    """The handlers in ``callbacks`` (None, a list or a manager)."""
    return list(callbacks if isinstance(callbacks, list) else getattr(callbacks, "handlers", ()))
