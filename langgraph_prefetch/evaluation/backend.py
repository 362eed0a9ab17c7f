"""The search tool of a replay, as the machine sees a tool, and the caller behind a recorded run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Mapping
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any

from langgraph_prefetch.config import ToolPolicy
from langgraph_prefetch.evaluation.oracle import Asked, Oracle
from langgraph_prefetch.keys import Encoded, encode_caller
from langgraph_prefetch.ports import Caller, Work
from langgraph_prefetch.values import Output

OwnerOf = Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True)
class RecordedCaller:
    """Whoever made a recorded run; ``configurable`` is the trusted configuration given to it."""

    configurable: Mapping[str, Any] = field(hash=False)
    context: Any = None

    def key(self, ignore: tuple[str, ...]) -> Encoded:
        """See :class:`~langgraph_prefetch.ports.Caller`."""
        return encode_caller({name: value for name, value in self.configurable.items() if name not in ignore})


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayTool:
    """A tool whose every search takes ``latency_seconds`` and is answered by the oracle.

    Attributes:
        policy: its name and the argument a guess fills, None where no guess can be made.
        oracle: what answers.
        owner_of: whose data a caller searches.
        latency_seconds: how long each search takes.
    """

    policy: ToolPolicy
    oracle: Oracle
    owner_of: OwnerOf
    latency_seconds: float

    @property
    def identity(self) -> Hashable:
        """See :class:`~langgraph_prefetch.ports.SearchTool`."""
        return ("replay", self.policy.name)

    def arguments_for(self, query: str) -> Mapping[str, Any] | None:
        """See :class:`~langgraph_prefetch.ports.SearchTool`."""
        name = self.policy.query_argument
        return None if name is None else {name: query}

    def complete(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Recorded arguments are complete."""
        return arguments

    def prepare(self, arguments: Mapping[str, Any], caller: Caller) -> Work:
        """See :class:`~langgraph_prefetch.ports.SearchTool`."""
        return Work(context=copy_context(), coroutine=lambda: self.search(arguments, caller))

    def asked(self, arguments: Mapping[str, Any], caller: Caller) -> Asked:
        """What a search by ``caller`` is given."""
        configuration = caller.configurable
        return Asked(
            tool=self.policy.name,
            arguments=arguments,
            configuration=configuration,
            owner=self.owner_of(configuration),
        )

    async def search(self, arguments: Mapping[str, Any], caller: Caller) -> Output:
        """One search, which reads at its beginning and takes its time."""
        answer = self.oracle.answer(self.asked(arguments, caller))
        await asyncio.sleep(self.latency_seconds)
        return Output(answer)
