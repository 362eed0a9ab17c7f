"""A machine on a clock moved by hand, for tests that need no graph."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from langgraph_prefetch.config import ExecutorLimits, PrefetchOptions, ToolPolicy
from langgraph_prefetch.events import Event, SearchCallAnswered, SpeculationEnded
from langgraph_prefetch.intent.reader import IntentReader
from langgraph_prefetch.ports import Caller
from langgraph_prefetch.prefetcher import PrefetchEngine, Run
from langgraph_prefetch.speculation.call import SearchCall
from langgraph_prefetch.speculation.loops import GivenLoop
from langgraph_prefetch.speculation.shared import Shared
from langgraph_prefetch.testing.clock import FakeClock, HandDrivenLoop
from langgraph_prefetch.testing.search import FunctionSearch, HandDrivenSearch, PlainCaller
from langgraph_prefetch.values import Delta, Guess, Output, Signal, TextDelta, ToolCallDelta

MODEL_CALL = "model call"


class EchoReader:
    """Takes every piece of text for a guess of that query, and every piece of a call for a whole one."""

    def __init__(self, sealed: IntentReader) -> None:
        self._sealed = sealed

    def feed(self, delta: Delta) -> Sequence[Signal]:
        if isinstance(delta, ToolCallDelta):
            return self._sealed.feed(delta)
        return (Guess(query=delta.text, probability=0.9, cue="test", end=0),)

    def finish(self) -> Sequence[Signal]:
        return ()


def begin(run: Run, model_call: str = MODEL_CALL) -> None:
    step = run.begin_step(model_call)
    step.reader = cast("IntentReader", EchoReader(step.reader))


def guess(run: Run, query: str, caller: Caller | None = None, model_call: str = MODEL_CALL) -> None:
    """The run's model makes ``query`` likely."""
    run.hear(model_call, [TextDelta(query)], lambda: caller or PlainCaller())


_numbers = iter(range(10**9))


def seal(
    run: Run, query: Any, caller: Caller | None = None, model_call: str = MODEL_CALL, tool: str = "search"
) -> None:
    """The run's model closes the arguments of a search for ``query``; a model call begins if none did."""
    if model_call not in run._steps:
        begin(run, model_call)
    arguments = json.dumps({"query": query})
    number = next(_numbers)
    delta = ToolCallDelta(index=number, call_id=f"call_{number}", name=tool, arguments=arguments)
    run.hear(model_call, [delta], lambda: caller or PlainCaller())


def call(
    run: Run,
    tool: Any,
    query: Any,
    caller: Caller | None = None,
    call_id: str | None = None,
    **more: Any,
) -> SearchCall:
    made = run.call(tool, {"query": query, **more}, call_id, caller or PlainCaller())
    assert made is not None
    return made


def finish(engine: PrefetchEngine, run: Run, query: Any, caller: Caller | None = None, **more: Any) -> Any:
    """A real call as a graph makes it, on this thread: served, or run by the tool. Its content."""
    tool = cast("FunctionSearch", engine.tools["search"])
    arguments = {"query": query, **more}
    made = call(run, tool, query, caller, **more)
    output = made.answer()
    if output is None:
        with made.running():
            try:
                output = tool.run(arguments, caller or PlainCaller())
            except Exception:
                made.ran(None)
                raise
        made.ran(output)
    return output.content


class Rig:
    """An engine whose retrievals run on a loop that turns only when told."""

    def __init__(
        self, *, limits: ExecutorLimits | None = None, policy: ToolPolicy | None = None, **options: Any
    ) -> None:
        self.clock = FakeClock()
        self.loop = HandDrivenLoop(self.clock)
        self.shared = Shared.made(GivenLoop(self.loop), limits=limits, clock=self.clock)
        self.search = HandDrivenSearch(policy=policy)
        self.events: list[Event] = []
        self.engine = self.another_engine(**options)

    def another_engine(self, **options: Any) -> PrefetchEngine:
        """One more wrapped graph with the same tool, cache and executor."""
        engine = PrefetchEngine(PrefetchOptions(**options), shared=self.shared)
        engine.tools[self.search.policy.name] = self.search
        engine.subscribe(self.events.append)
        return engine

    def run(self, **configurable: Any) -> Run:
        run = self.engine.open_run(configurable)
        begin(run)
        return run

    def guess(self, run: Run, query: str, **who: Any) -> None:
        guess(run, query, PlainCaller(who))
        self.loop.settle()

    def seal(self, run: Run, query: Any, **who: Any) -> None:
        seal(run, query, PlainCaller(who))
        self.loop.settle()

    def land(self, content: Any = "found", *, place: int = 0, after: float = 0.0) -> None:
        """The retrieval at that place among those under way has its result (an exception: it failed)."""
        self.clock.pass_(after)
        future = self.search.pending[place][2]
        if isinstance(content, BaseException):
            future.set_exception(content)
        else:
            future.set_result(content)
        self.loop.settle()

    def call(self, run: Run, query: Any, *, call_id: str | None = None, **who: Any) -> SearchCall:
        return call(run, self.search, query, PlainCaller(who), call_id)

    def answer(self, run: Run, query: Any, *, call_id: str | None = None, **who: Any) -> Any:
        """What a call gets from prefetch at once: the content, or None for "run the tool"."""
        made = self.call(run, query, call_id=call_id, **who)
        task = self.loop.create_task(made.aanswer())
        self.loop.settle()
        assert task.done(), "the call waits"
        output = task.result()
        if output is None:
            made.ran(None)
        return None if output is None else output.content

    def tool_runs(self, run: Run, query: Any, content: Any, *, call_id: str | None = None, **who: Any) -> Any:
        """A call that prefetch does not answer, so that its tool runs and gives ``content``."""
        made = self.call(run, query, call_id=call_id, **who)
        task = self.loop.create_task(made.aanswer())
        self.loop.settle()
        assert task.result() is None
        with made.running():
            pass
        made.ran(Output(content))
        run.answered(made, Output(content))
        return content

    def answered(self) -> list[SearchCallAnswered]:
        return [event for event in self.events if isinstance(event, SearchCallAnswered)]

    def fates(self) -> list[tuple[str, str]]:
        return [(event.fate, event.reason) for event in self.events if isinstance(event, SpeculationEnded)]

    def close(self) -> None:
        """End everything, and check what must hold then."""
        self.engine.close()
        self.shared.executor.close()
        self.loop.settle()
        self.loop.close()


@contextmanager
def rigged(**options: Any) -> Iterator[Rig]:
    rig = Rig(**options)
    try:
        yield rig
    finally:
        rig.close()


def tenant(configurable: Any) -> Any:
    """A scope function."""
    return configurable.get("tenant")
