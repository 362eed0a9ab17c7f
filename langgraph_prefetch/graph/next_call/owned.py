"""A chat model whose calls pass by the prefetcher: a dynamic subclass of the model's own class, equal in all else.

Only the methods with which langchain-core asks a model are wrapped, and only those that its class has: the host looks
at which of them are there to decide how a model is called.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from functools import wraps
from typing import Any, TypeVar, cast

from langchain_core.language_models import BaseChatModel

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.graph.next_call.calls import NextModelCalls
from langgraph_prefetch.graph.next_call.private import aclosed_after, closed_after
from langgraph_prefetch.graph.next_call.visit import Visit
from langgraph_prefetch.speculative import speculating

Model = TypeVar("Model", bound=BaseChatModel)

_CALLS = "__langgraph_prefetch_next_calls__"
_MISSING: Any = object()
_SHARED = ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__")


def owned(model: Model, calls: NextModelCalls) -> Model:
    """``model`` with its calls passing by ``calls``: an instance of a subclass of its class that shares its state.

    Raises:
        ConfigurationError: a model that passes by another prefetcher.
    """
    before = getattr(type(model), _CALLS, None)
    if before is calls:
        return model
    if before is not None:
        raise ConfigurationError("this model belongs to another prefetcher: hand model() the one that it was made from")
    of = type(model)
    cls = calls.model_class(of, lambda: _owned_class(of, calls))
    new = cls.__new__(cls)
    for name in _SHARED:  # the very same, so that a model which counts or caches in itself goes on doing so
        object.__setattr__(new, name, getattr(model, name))
    return cast("Model", new)


def _owned_class(of: type[BaseChatModel], calls: NextModelCalls) -> type[BaseChatModel]:
    added: dict[str, Any] = {
        "__module__": of.__module__,
        "__qualname__": of.__qualname__,
        "__doc__": of.__doc__,
        "__reduce_ex__": _refuse_to_pickle,
        # It is hardly ever validated: an instance shares the state of a valid one.
        "model_config": {**of.model_config, "defer_build": True},
    }
    for way, wrapped in _WAYS.items():
        method = getattr(of, way, None)
        if method is not None and method is not getattr(BaseChatModel, way, None):
            added[way] = wrapped(way, method)
    metaclass: Any = type(of)
    cls: type[BaseChatModel] = metaclass(of.__name__, (of,), added)
    setattr(cls, _CALLS, calls)
    return cls


def _refuse_to_pickle(self: BaseChatModel, protocol: Any) -> Any:
    raise TypeError(
        f"this {type(self).__name__} passes by a prefetcher of this process: hand on the model it was made of"
    )


def _visit(
    way: str,
    method: Callable[..., Any],
    model: BaseChatModel,
    messages: Any,
    settings: dict[str, Any],
    run_manager: Any,
) -> Visit | None:
    if speculating.get():  # a private call's own, or one of a tool that runs early
        return None
    told = run_manager is not _MISSING and run_manager is not None
    calls: NextModelCalls = getattr(type(model), _CALLS)
    return calls.visit(model, method, messages, settings, way=way, told=told)


def _given(settings: dict[str, Any], run_manager: Any) -> dict[str, Any]:
    return settings if run_manager is _MISSING else {**settings, "run_manager": run_manager}


def _whole(way: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def ask(self: Any, messages: Any, stop: Any = None, run_manager: Any = _MISSING, **settings: Any) -> Any:
        settings = {"stop": stop, **settings}
        visit = _visit(way, method, self, messages, settings, run_manager)
        if visit is not None:
            with closed_after(visit.replayed(run_manager)) as results:
                for result in results:
                    visit.hear(result)
                    return result
        result = method(self, messages, **_given(settings, run_manager))
        if visit is not None:
            visit.hear(result)
        return result

    return ask


def _awhole(way: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    async def ask(self: Any, messages: Any, stop: Any = None, run_manager: Any = _MISSING, **settings: Any) -> Any:
        settings = {"stop": stop, **settings}
        visit = _visit(way, method, self, messages, settings, run_manager)
        if visit is not None:
            async with aclosed_after(visit.areplayed(run_manager)) as results:
                async for result in results:
                    visit.hear(result)
                    return result
        result = await method(self, messages, **_given(settings, run_manager))
        if visit is not None:
            visit.hear(result)
        return result

    return ask


def _stream(way: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def ask(self: Any, messages: Any, stop: Any = None, run_manager: Any = _MISSING, **settings: Any) -> Iterator[Any]:
        settings = {"stop": stop, **settings}
        visit = _visit(way, method, self, messages, settings, run_manager)
        if visit is None:
            yield from method(self, messages, **_given(settings, run_manager))
            return
        with closed_after(visit.replayed(run_manager)) as adopted:
            for given in adopted:
                visit.hear(given)
                yield given
        if visit.is_answered:
            return
        with closed_after(method(self, messages, **_given(settings, run_manager))) as made:
            for given in made:
                visit.hear(given)
                yield given

    return ask


def _astream(way: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    async def ask(
        self: Any, messages: Any, stop: Any = None, run_manager: Any = _MISSING, **settings: Any
    ) -> AsyncIterator[Any]:
        settings = {"stop": stop, **settings}
        visit = _visit(way, method, self, messages, settings, run_manager)
        if visit is None:
            async with aclosed_after(method(self, messages, **_given(settings, run_manager))) as made:
                async for given in made:
                    yield given
            return
        async with aclosed_after(visit.areplayed(run_manager)) as adopted:
            async for given in adopted:
                visit.hear(given)
                yield given
        if visit.is_answered:
            return
        async with aclosed_after(method(self, messages, **_given(settings, run_manager))) as made:
            async for given in made:
                visit.hear(given)
                yield given

    return ask


_WAYS: dict[str, Callable[[str, Callable[..., Any]], Callable[..., Any]]] = {
    "_generate": _whole,
    "_agenerate": _awhole,
    "_stream": _stream,
    "_astream": _astream,
    "_stream_chat_model_events": _stream,
    "_astream_chat_model_events": _astream,
}
