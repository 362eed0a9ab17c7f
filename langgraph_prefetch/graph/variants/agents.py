"""Prefetch settings as variants of an agent of ``create_agent``, ``serve="verified"`` among them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from langgraph_prefetch.errors import MissingExtraError
from langgraph_prefetch.experiments import Key
from langgraph_prefetch.graph.caller import ambient_config, user_configurable
from langgraph_prefetch.graph.front import Named
from langgraph_prefetch.graph.middleware import PrefetchMiddleware, being_built
from langgraph_prefetch.graph.variants.arms import Arm, PrefetchVariants, Settings, experiment_of
from langgraph_prefetch.intent.cues import CueSet
from langgraph_prefetch.option_types import OptionTypes

try:
    from langchain.agents.middleware import AgentMiddleware
    from langchain.agents.middleware.types import ModelRequest, ModelResponse
except ImportError as error:
    raise MissingExtraError("langchain", "langchain") from error

LEFT_ALONE: OptionTypes = {"dry_run": True, "force_streaming": False}
"""What stands for no settings: the run is listened to, so that it can be compared, and nothing is started."""

_LOOKED_AT = ("middleware", "tools", "interrupt_before", "interrupt_after")


class PrefetchVariantsMiddleware(AgentMiddleware[Any, Any, Any]):
    """``create_agent(model, tools, middleware=[..., PrefetchVariantsMiddleware(...)])``: last, so innermost.

    ::

        PrefetchVariantsMiddleware(
            ["search"], name="serve", key="user_id", variants={"exact": {}, "verified": {"serve": "verified"}}
        )

    Args:
        tools: as for :class:`~langgraph_prefetch.graph.middleware.PrefetchMiddleware`.
        name: of the experiment; the same name deals out the same keys alike.
        variants: settings by name; None starts nothing, and listens only to count the run.
        key: as for :class:`~langgraph_prefetch.graph.variants.chooser.Variants`.
        weights: as there.
        default: as there.
        cues: the language of intent, of all variants.

    Raises:
        UnknownOptionError, ConfigurationError: at once.
        MiddlewareOrderError, UnknownToolError: when ``create_agent`` builds the agent.
    """

    def __init__(
        self,
        tools: Sequence[Named],
        *,
        name: str,
        variants: Mapping[str, Settings],
        key: Key = "thread_id",
        weights: Mapping[str, float] | None = None,
        default: str | None = None,
        cues: CueSet | None = None,
    ) -> None:
        super().__init__()
        experiment = experiment_of(name, variants, key, weights, default)
        self._named, self._cues = tools, cues
        self._build: dict[str, Any] | None = None
        self.prefetch = PrefetchVariants(experiment, variants, self._make)

    @property
    def tools(self) -> Sequence[BaseTool]:  # type: ignore[override]
        """None of its own. ``create_agent`` asks while it builds, which is the time to look at what it builds."""
        build = being_built(self)
        if build is not None:
            self._build = {name: build.get(name) for name in _LOOKED_AT}
            for arm in self.prefetch.arms.values():
                self._look_at(arm.made)
        return ()

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Hand it to the run's variant."""
        return self._chosen().wrap_model_call(request, handler)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Hand it to the run's variant."""
        return await self._chosen().awrap_model_call(request, handler)

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        """Hand it to the run's variant."""
        return self._chosen(request).wrap_tool_call(request, handler)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        """Hand it to the run's variant."""
        return await self._chosen(request).awrap_tool_call(request, handler)

    def _make(self, settings: Settings) -> Arm:
        made = PrefetchMiddleware(self._named, cues=self._cues, **(LEFT_ALONE if settings is None else settings))
        self._look_at(made)
        return Arm(made.prefetch, made)

    def _look_at(self, made: PrefetchMiddleware) -> None:
        if self._build is not None:
            standing = [made if each is self else each for each in self._build["middleware"]]
            made.look_at({**self._build, "middleware": standing})

    def _chosen(self, request: ToolCallRequest | None = None) -> PrefetchMiddleware:
        runtime = request.runtime if request is not None else None
        config = runtime.config if runtime is not None else ambient_config()
        made: PrefetchMiddleware = self.prefetch.arm_for(user_configurable(config))[0].made
        return made
