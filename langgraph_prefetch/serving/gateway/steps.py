"""A component and its gate as a LangChain runnable, which LangChain's own retry and fallbacks then go around."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableConfig

from langgraph_prefetch.handing import Change, marked
from langgraph_prefetch.serving.gateway.calls import Call
from langgraph_prefetch.serving.gateway.gate import Gate
from langgraph_prefetch.serving.gateway.outages import PassingError, is_outage, is_signal

AnyRunnable = Runnable[Any, Any]


class _Guarded(Runnable[Any, Any]):
    """Hides from LangChain's retry what is not to be tried again: signals, and errors that say nothing of an outage."""

    def __init__(self, component: AnyRunnable) -> None:
        self._component = component

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        try:
            return self._component.invoke(input, config, **kwargs)
        except Exception as error:
            if is_signal(error) or not is_outage(error):
                raise PassingError(error) from error
            raise

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        try:
            return await self._component.ainvoke(input, config, **kwargs)
        except Exception as error:
            if is_signal(error) or not is_outage(error):
                raise PassingError(error) from error
            raise

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:  # noqa: A002
        yield from self._component.stream(input, config, **kwargs)

    async def astream(
        self,
        input: Any,  # noqa: A002 - the host's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        async for part in self._component.astream(input, config, **kwargs):
            yield part


class Step(Runnable[Any, Any]):
    """One component for one call."""

    def __init__(self, gate: Gate, call: Call, change: Change | None, attempts: int) -> None:
        self._gate, self._call = gate, call
        component = gate.component
        if change is not None and isinstance(component, BaseChatModel):
            component = change(component)
        if attempts > 1:
            component = _Guarded(component).with_retry(stop_after_attempt=attempts)
        self._component: AnyRunnable = component

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Call the component, if it may be called."""
        with _passing_signals(), self._gate.calling(self._call) as visit:
            visit.wait()
            return self._marked(visit.answer(self._component.invoke(input, config, **kwargs)))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        """Call the component, if it may be called."""
        with _passing_signals(), self._gate.calling(self._call) as visit:
            await visit.await_()
            return self._marked(visit.answer(await self._component.ainvoke(input, config, **kwargs)))

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:  # noqa: A002
        """Call the component, if it may be called."""
        with _passing_signals(), self._gate.calling(self._call) as visit:
            visit.wait()
            first = True
            parts = self._component.stream(input, config, **kwargs)
            try:
                for part in parts:
                    visit.part(part)
                    yield self._marked(part) if first else part
                    first = False
            finally:
                if hasattr(parts, "close"):
                    parts.close()

    async def astream(
        self,
        input: Any,  # noqa: A002 - the host's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[Any]:
        """Call the component, if it may be called."""
        with _passing_signals(), self._gate.calling(self._call) as visit:
            await visit.await_()
            first = True
            parts = self._component.astream(input, config, **kwargs)
            try:
                async for part in parts:
                    visit.part(part)
                    yield self._marked(part) if first else part
                    first = False
            finally:
                if hasattr(parts, "aclose"):
                    await parts.aclose()

    def _marked(self, answer: Any) -> Any:
        return marked(answer, self._gate.name) if self._gate.degraded else answer


@contextmanager
def _passing_signals() -> Iterator[None]:
    """Signals of the host go past LangChain's fallbacks as they are."""
    try:
        yield
    except Exception as error:
        if is_signal(error):
            raise PassingError(error) from error
        raise


def chained(gates: Sequence[Gate], call: Call, change: Change | None, attempts: int) -> AnyRunnable:
    """The components in the order in which they are asked, until one answers; a stream that has begun stays."""
    first, *others = (Step(gate, call, change, attempts if not place else 1) for place, gate in enumerate(gates))
    return first.with_fallbacks(others) if others else first
