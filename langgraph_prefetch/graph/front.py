"""The public prefetcher: the engine with its LangChain ways in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool

from langgraph_prefetch.config import PrefetchOptions, ToolPolicy
from langgraph_prefetch.errors import ConfigurationError, RemoteToolError, UnknownToolError
from langgraph_prefetch.graph.by_hand import PrefetchedRetriever, PrefetchedTool
from langgraph_prefetch.graph.callback import StreamListener
from langgraph_prefetch.graph.current import current_runs
from langgraph_prefetch.graph.dated import DatedRetriever, DatedTool, tells_epoch
from langgraph_prefetch.graph.near.view import view_of
from langgraph_prefetch.graph.next_call.calls import NextModelCalls
from langgraph_prefetch.graph.next_call.owned import owned
from langgraph_prefetch.graph.retrievers import RetrieverSearch
from langgraph_prefetch.graph.service_agents import Held, HeldTools, held_tools, own_names
from langgraph_prefetch.graph.survey import refusal_of
from langgraph_prefetch.graph.tools import LangChainTool
from langgraph_prefetch.graph.variants.models import VariantModel
from langgraph_prefetch.intent.cues import CueSet
from langgraph_prefetch.near_miss import NearMiss
from langgraph_prefetch.option_types import OptionTypes
from langgraph_prefetch.ports import MayRunElsewhere, SearchTool
from langgraph_prefetch.prefetcher import PrefetchEngine, Run
from langgraph_prefetch.speculation.shared import Shared

if TYPE_CHECKING:
    from langgraph_prefetch.graph.near.misses import NearMisses

Named = str | ToolPolicy
NEEDS_NEAR = (
    "serve='bounded' answers near misses, so it needs to know from what: near={'search': NearMiss(source=store, k=…)}"
)
Model = TypeVar("Model", bound=BaseChatModel)


class Prefetcher(PrefetchEngine):
    """Reads a run's tokens, starts its searches early, answers the real calls.

    Every way in makes one: it is ``agent.prefetch`` of a wrapped graph. Made by hand it serves code that calls a tool
    or a retriever itself, inside a node function or without a graph.

    Args:
        tools: names or policies of the tools that may run early. Naming one asserts that it only reads.
        cues: the language of intent; the cues that come with the package if None.
        shared: executor, ledger and shared cache; the process-wide ones if None.
        options: see :class:`~langgraph_prefetch.config.PrefetchOptions`.

    Raises:
        UnknownOptionError: an option that does not exist.
        ConfigurationError: no tool, or a value out of its range.
    """

    def __init__(
        self,
        tools: Sequence[Named],
        *,
        cues: CueSet | None = None,
        shared: Shared | None = None,
        **options: Unpack[OptionTypes],
    ) -> None:
        if cues is not None and not isinstance(cues, CueSet):
            raise ConfigurationError(f"cues takes a CueSet, such as default_cues().add(…), not {cues!r}")
        super().__init__(PrefetchOptions.of(options), cues=cues, shared=shared)
        self.policies = _policies(tools)
        self.options.check_prices(self.policies.values())
        self.next_calls = NextModelCalls(self, self.earlier) if self.earlier is not None else None
        self._near_misses: NearMisses | None = None
        for name in self.options.near:
            self._policy_of(name)

    def admit(self, tool: BaseTool) -> bool:
        """Take a named tool in, unless something about it speaks against running it early; True if it was taken."""
        policy = self.policies.get(tool.name)
        if policy is None or tool.name in self.refusals:
            return False
        known = self.tools.get(tool.name)
        if isinstance(known, LangChainTool) and known.tool is tool:
            return True
        reason = refusal_of(tool, reads_runtime=policy.reads_runtime)
        if reason is not None:
            self.refuse(tool.name, reason)
            return False
        search = self._search_tool(tool, policy)
        self._take(search)
        self._take_near(search, tool, self.options.near.get(tool.name))
        return True

    def require_near(self) -> None:
        """Raise ``ConfigurationError`` if near misses are to be answered and nothing says from what."""
        if self.options.serve == "bounded" and not self.options.near:
            raise ConfigurationError(NEEDS_NEAR)

    def check_near(self, tool: BaseTool) -> None:
        """Raise ``ConfigurationError`` if the near misses of a tool cannot be answered as it was said."""
        near, policy = self.options.near.get(tool.name), self.policies.get(tool.name)
        if near is not None and policy is not None and refusal_of(tool, reads_runtime=policy.reads_runtime) is None:
            view_of(self._search_tool(tool, policy), tool, near, self.options.epsilon)

    def handler(self) -> StreamListener:
        """A callback handler that hears model calls, for ``config={"callbacks": [...]}`` or ``graph.with_config``.

        It opens a run for each root run it hears and closes it with that; inside ``with prefetcher.run():`` it belongs
        to that run. One handler may be shared by concurrent runs.
        """
        return StreamListener(self)

    @contextmanager
    def run(self, configurable: Mapping[str, Any] | None = None) -> Iterator[Run]:
        """One agent run of code that draws no graph: what is heard and called inside belongs to it."""
        opened = self.open_run(configurable)
        token = current_runs.set((*current_runs.get(), opened))
        try:
            yield opened
        finally:
            current_runs.reset(token)
            opened.close()

    def tool(self, tool: BaseTool, *, near: NearMiss | None = None) -> BaseTool:
        """The same tool, answering from speculations where it can; for code that calls it itself.

        ``near``: what its near misses may be answered from, unless the prefetcher's own option says it.

        Raises:
            UnknownToolError: a tool that was not named.
            ConfigurationError: something that is no LangChain tool, or near misses that cannot be answered.
        """
        if not isinstance(tool, BaseTool):
            raise ConfigurationError(f"tool() takes a LangChain tool, not {tool!r}: put @tool on a plain function")
        policy = self._policy_of(tool.name)
        reason = refusal_of(tool, reads_runtime=policy.reads_runtime)
        if reason is not None:
            self.refuse(tool.name, reason)
            return tool
        search = self._search_tool(tool, policy, raw=tool.response_format == "content")
        self._take(search)
        self._take_near(search, tool, self._near_of(tool.name, near), raw=tool.response_format == "content")
        return PrefetchedTool.over(tool, self, search)

    def model(self, model: Model) -> Model:
        """The same model, whose next call may start in private: for graphs drawn by hand under ``serve="verified"``.

        Bind tools to what this returns. It keeps its class, name and profile, and cannot be pickled. Under another
        ``serve`` it is the model itself.

        Raises:
            ConfigurationError: something that is no LangChain chat model.
        """
        if not isinstance(model, BaseChatModel):
            raise ConfigurationError(
                f"model() takes a LangChain chat model, not {type(model).__name__}: hand it the model itself, and call "
                "bind_tools(), with_retry() and the like on what it returns"
            )
        calls = self.next_calls
        if calls is None:
            return model
        if isinstance(model, VariantModel):
            return cast("Model", model.used_as(lambda each: owned(each, calls)))
        return owned(model, calls)

    def retriever(
        self, retriever: BaseRetriever, *, name: str | None = None, near: NearMiss | None = None
    ) -> BaseRetriever:
        """The same retriever, answering from speculations where it can. ``name``: as named in ``tools``.

        ``near``: what its near misses may be answered from, unless the prefetcher's own option says it.

        Raises:
            UnknownToolError: a name that was not named; without ``name``, if there is not exactly one.
            ConfigurationError: something that is no LangChain retriever, or near misses that cannot be answered.
        """
        if not isinstance(retriever, BaseRetriever):
            raise ConfigurationError(f"retriever() takes a LangChain retriever, not {retriever!r}")
        if name is None:
            name = next(iter(self.policies)) if len(self.policies) == 1 else retriever.get_name()
        policy = self._policy_of(name)
        kind = DatedRetriever if tells_epoch(retriever) else RetrieverSearch
        search = kind(retriever, policy, traced=self.options.trace_speculations)
        self._take(search)
        self._take_near(search, retriever, self._near_of(name, near))
        return PrefetchedRetriever.over(retriever, self, search)

    def service_agent(self, tools: Sequence[Held] | Mapping[str, Held]) -> HeldTools:
        """An agent that a service runs, such as a Bedrock Agent, and the tools whose calls it leaves to the caller.

        Args:
            tools: LangChain tools and retrievers; a mapping says the names by which the service calls them. A
                retriever is known by that name here too, and is called with its argument ``query``.

        Raises:
            UnknownToolError: one that this prefetcher names is not among them.
            ConfigurationError: something that is no tool and no retriever, or two of one name.
        """
        held = held_tools(tools)
        names = own_names(held, self.policies)
        self.agent_has(held)
        for name in names:
            each = held[name]
            if isinstance(each, BaseRetriever):
                self.retriever(each, name=name)
            else:
                self.admit(each)
        return HeldTools(self, held, names)

    def _near_of(self, name: str, given: NearMiss | None) -> NearMiss | None:
        near = self.options.near.get(name) if given is None else given
        if near is None and self.options.serve == "bounded" and not self.options.near and self._near_misses is None:
            raise ConfigurationError(NEEDS_NEAR)
        if near is not None and not isinstance(near, NearMiss):
            raise ConfigurationError(f"near takes a NearMiss(source=…, k=…), not {type(near).__name__}")
        if near is not None and self.options.serve == "exact":
            raise ConfigurationError("near is for Prefetcher(tools, serve='bounded') or serve='verified'")
        return near

    def _take_near(
        self, search: SearchTool, held: BaseTool | BaseRetriever, near: NearMiss | None, *, raw: bool = False
    ) -> None:
        if near is None:
            return
        view = view_of(search, held, near, self.options.epsilon, raw=raw)
        if self._near_misses is None:
            from langgraph_prefetch.graph.near.misses import NearMisses  # needs numpy, which the core does without

            self.near = self._near_misses = NearMisses(self)
        self._near_misses.take(view)

    def _take(self, search: SearchTool) -> None:
        """In the order in which they were named: a guess is for the first."""
        queue, name = self.options.executor, search.policy.name
        if queue is not None and queue.takes(name):
            beyond = search.reads_beyond(queue.configurable) if isinstance(search, MayRunElsewhere) else None
            if beyond is not None:
                raise RemoteToolError(name, beyond)
        taken = {**self.tools, search.policy.name: search}
        self.tools = {name: taken[name] for name in self.policies if name in taken}

    def _policy_of(self, name: str) -> ToolPolicy:
        if name not in self.policies:
            raise UnknownToolError(name, self.policies, "among those that this prefetcher names")
        return self.policies[name]

    def _search_tool(self, tool: BaseTool, policy: ToolPolicy, *, raw: bool = False) -> LangChainTool:
        kind = DatedTool if tells_epoch(tool) else LangChainTool
        return kind(tool, policy, refuse=self.refuse, traced=self.options.trace_speculations, raw=raw)


def _policies(tools: Sequence[Named]) -> dict[str, ToolPolicy]:
    if isinstance(tools, str | ToolPolicy):
        raise ConfigurationError(f"tools takes a list: tools=[{tools!r}]")
    if not isinstance(tools, Iterable):
        raise ConfigurationError(f"tools takes a list of names, not {tools!r}")
    policies = {}
    for each in tools:
        if not isinstance(each, str | ToolPolicy):
            hint = f": write {each.name!r}" if isinstance(each, BaseTool) else ""
            raise ConfigurationError(f"tools takes names and ToolPolicy objects, not {type(each).__name__}{hint}")
        policy = ToolPolicy(name=each) if isinstance(each, str) else each
        policies[policy.name] = policy
    if not policies:
        raise ConfigurationError("tools=[] names nothing to prefetch: name the tools that only read")
    return policies
