"""A gateway is what it stands for: a chat model, a retriever, a tool, or any other runnable."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool

from langgraph_prefetch.handing import (
    HandingModel,
    HandingRetriever,
    HandingRunnable,
    HandingTool,
    TellsEpoch,
    tells_epoch,
)
from langgraph_prefetch.serving.gateway.core import Gateway


class _Gated:
    handler: Any

    @property
    def gateway(self) -> Gateway:
        """Tells and changes its state."""
        made: Gateway = self.handler
        return made


class GatedRunnable(_Gated, HandingRunnable):
    """Any runnable."""


class GatedModel(_Gated, HandingModel):
    """A chat model."""

    @property
    def _llm_type(self) -> str:
        return "gateway"


class GatedRetriever(_Gated, HandingRetriever):
    """A retriever."""


class DatedGatedRetriever(TellsEpoch, GatedRetriever):
    """A retriever that can tell when what it searches has changed."""


class GatedTool(_Gated, HandingTool):
    """A tool."""


class DatedGatedTool(TellsEpoch, GatedTool):
    """A tool that can tell when what it searches has changed."""


def gated(component: Runnable[Any, Any], gateway: Gateway) -> Runnable[Any, Any]:
    """``component`` as the kind that it is, with ``gateway`` before it."""
    dated = tells_epoch(gateway.behind())
    if isinstance(component, BaseChatModel):
        return GatedModel(handler=gateway, name=gateway.name, profile=component.profile)
    if isinstance(component, BaseRetriever):
        return (DatedGatedRetriever if dated else GatedRetriever)(handler=gateway, name=gateway.name)
    if isinstance(component, BaseTool):
        return (DatedGatedTool if dated else GatedTool).like(component, gateway)
    return GatedRunnable(gateway)
