"""The acceptance suite of :class:`~langgraph_prefetch.ports.SearchTool`."""

from __future__ import annotations

import asyncio
import contextvars
import copy
from collections.abc import Mapping
from typing import Any, ClassVar

from langgraph_prefetch.keys import RunScope, encode_arguments, search_key
from langgraph_prefetch.ports import Caller, SearchTool, Work
from langgraph_prefetch.speculation.cache import snapshot
from langgraph_prefetch.testing.contract import Contract, fixture, skip
from langgraph_prefetch.testing.search import PlainCaller
from langgraph_prefetch.values import Output

_mark: contextvars.ContextVar[str] = contextvars.ContextVar("search_contract_mark")


def run_prepared(tool: SearchTool, arguments: Mapping[str, Any], caller: Caller, *, times: int = 1) -> list[Output]:
    """Run the tool as the executor does, so many times at once: blocking work on threads, coroutines on a loop."""

    async def run(work: Work) -> Output:
        if work.blocking is not None:
            blocking = work.blocking
            return await asyncio.to_thread(lambda: work.context.run(blocking))
        assert work.coroutine is not None
        return await asyncio.get_running_loop().create_task(work.coroutine(), context=work.context)

    async def run_all() -> list[Output]:
        works = [tool.prepare(arguments, caller) for _ in range(times)]
        return await asyncio.gather(*map(run, works))

    return asyncio.run(run_all())


class SearchToolContract(Contract):
    """Subclass it and give the fixtures ``tool`` and ``arguments``, and ``caller`` if not any will do.

    Attributes:
        guesses: the schema allows to tell which argument a query fills.
        repeatable: the same call gives the same output.
        copyable: outputs can be copied, which they must be to answer more than one call.
    """

    guesses: ClassVar[bool] = True
    repeatable: ClassVar[bool] = True
    copyable: ClassVar[bool] = True

    @fixture
    def tool(self) -> SearchTool:
        """The implementation under test."""
        raise NotImplementedError("give the suite a fixture named tool")

    @fixture
    def arguments(self) -> Mapping[str, Any]:
        """Arguments of a call that succeeds, as a model would write them."""
        raise NotImplementedError("give the suite a fixture named arguments")

    @fixture
    def caller(self) -> Caller:
        """Who asks."""
        return PlainCaller({"user": "u1"})

    def test_it_is_a_search_tool(self, tool: SearchTool) -> None:
        """It has every part of the port."""
        assert isinstance(tool, SearchTool)
        assert tool.policy.name
        assert tool.policy == tool.policy

    def test_its_identity_is_stable(self, tool: SearchTool) -> None:
        """The identity can be part of a key: equal to itself, today and at the next look."""
        assert tool.identity == tool.identity
        assert hash(tool.identity) == hash(tool.identity)

    def test_completing_twice_changes_nothing(self, tool: SearchTool, arguments: Mapping[str, Any]) -> None:
        """What the tool would be given is found once and for all, and what the model wrote is left as it is."""
        before = copy.deepcopy(dict(arguments))
        complete = tool.complete(arguments)
        assert dict(arguments) == before
        assert encode_arguments(dict(tool.complete(complete))) == encode_arguments(dict(complete))

    def test_equal_calls_have_equal_keys(self, tool: SearchTool, arguments: Mapping[str, Any], caller: Caller) -> None:
        """A key can be made, and made again."""
        keys = {
            search_key(tool.identity, tool.complete(dict(arguments)), caller.key(()), RunScope("r")) for _ in range(2)
        }
        assert len(keys) == 1

    def test_work_has_one_form(self, tool: SearchTool, arguments: Mapping[str, Any], caller: Caller) -> None:
        """A prepared run is either blocking or a coroutine, in a context of its own."""
        first, second = tool.prepare(arguments, caller), tool.prepare(arguments, caller)
        assert (first.blocking is None) != (first.coroutine is None)
        assert first.context is not second.context

    def test_work_gives_an_output(self, tool: SearchTool, arguments: Mapping[str, Any], caller: Caller) -> None:
        """A run away from the agent gives what a search gives, also several at once."""
        assert all(isinstance(output, Output) for output in run_prepared(tool, arguments, caller, times=8))

    def test_work_prepared_outside_a_loop(self, tool: SearchTool, arguments: Mapping[str, Any], caller: Caller) -> None:
        """A caller without an event loop can have the search run on a thread, or on whichever loop there is."""
        work = tool.prepare(arguments, caller)
        if work.blocking is not None:
            assert isinstance(work.context.run(work.blocking), Output)
        else:
            assert work.loop is None
            assert work.coroutine is not None
            assert isinstance(asyncio.run(work.coroutine()), Output)

    def test_work_sees_the_callers_context(
        self, tool: SearchTool, arguments: Mapping[str, Any], caller: Caller
    ) -> None:
        """Context variables of the caller are there in the background, as they were when the run was prepared."""
        token = _mark.set("caller")
        try:
            work = tool.prepare(arguments, caller)
        finally:
            _mark.reset(token)
        assert work.context.run(_mark.get) == "caller"

    def test_repeated(self, tool: SearchTool, arguments: Mapping[str, Any], caller: Caller) -> None:
        """The same call gives the same output."""
        self.needs("repeatable")
        first, second = run_prepared(tool, arguments, caller, times=2)
        assert (first.content, first.artifact) == (second.content, second.artifact)

    def test_outputs_can_be_copied(self, tool: SearchTool, arguments: Mapping[str, Any], caller: Caller) -> None:
        """An output can be kept apart from what its receiver does to it."""
        self.needs("copyable")
        assert snapshot(run_prepared(tool, arguments, caller)[0]) is not None

    def test_a_guess_is_a_call_the_model_could_make(self, tool: SearchTool) -> None:
        """A guessed query fills one argument, and the whole can be keyed."""
        self.needs("guesses")
        made = tool.arguments_for("Colorado orogeny")
        assert made is not None
        assert "Colorado orogeny" in made.values()
        encode_arguments(dict(tool.complete(made)))

    def test_no_guess_where_none_is_possible(self, tool: SearchTool) -> None:
        """Where the schema does not tell, the tool says so instead of guessing wrongly."""
        if self.guesses:
            skip("guesses are offered")
        assert tool.arguments_for("Colorado orogeny") is None
