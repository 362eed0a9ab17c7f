"""What a component can, seen through those that hand its calls on."""

from __future__ import annotations

from typing import TypeVar, cast

from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool

from langgraph_prefetch.handing.components import HandingRetriever, HandingTool

Component = TypeVar("Component")


def behind(component: object) -> tuple[object, ...]:
    """The components that its calls are meant for; of one that hands nothing on, itself."""
    if isinstance(component, HandingRetriever | HandingTool):
        return tuple(part for each in component.handler.behind() for part in behind(each))
    return (component,)


def sole(component: Component) -> Component:
    """The one component behind, where there is exactly one; else ``component`` itself."""
    found = behind(component)
    return cast("Component", found[0]) if len(found) == 1 else component


def has_own_async(component: BaseTool | BaseRetriever) -> bool:
    """True if its async form is its own, rather than its sync form on the loop's thread pool."""
    return any(map(_has_own_async, behind(component)))


def _has_own_async(component: object) -> bool:
    if isinstance(component, BaseRetriever):
        return type(component)._aget_relevant_documents is not BaseRetriever._aget_relevant_documents
    if "coroutine" in getattr(type(component), "model_fields", {}):
        return getattr(component, "coroutine", None) is not None
    return isinstance(component, BaseTool) and type(component)._arun is not BaseTool._arun
