"""Searches that run elsewhere, as a test drives them: a queue, a cache and a clock moved by hand."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from langgraph_prefetch.config import ExecutorLimits
from langgraph_prefetch.errors import NotDispatchedError
from langgraph_prefetch.jobs import ABSENT, Form, Held, HeldState, Job, Word
from langgraph_prefetch.ports import Caller
from langgraph_prefetch.testing.search import HandDrivenSearch
from langgraph_prefetch.values import Output
from tests.speculation.rig import Rig

LOOKUP = 0.05


class Elsewhere(HandDrivenSearch):
    """A search that may run elsewhere."""

    form = Form.MESSAGE

    def reads_beyond(self, configurable: Collection[str]) -> str | None:
        return None


class Dated(Elsewhere):
    """One that can tell the epoch of what it searches."""

    now = 1

    def epoch(self, caller: Caller) -> int:
        return self.now

    async def aepoch(self, caller: Caller) -> int:
        return self.now


class ScriptedQueue:
    """Takes every job, or refuses."""

    configurable: Collection[str] = ("tenant",)

    def __init__(self) -> None:
        self.sent: list[Job] = []
        self.refuses = False

    def takes(self, tool: str) -> bool:
        return tool == "search"

    async def send(self, job: Job) -> None:
        if self.refuses:
            raise NotDispatchedError("away")
        self.sent.append(job)


@dataclass
class Waiting:
    job: Job
    began: Callable[[float], None]
    word: Word
    ended: asyncio.Future[Held]


class ScriptedCache:
    """Says what the test tells it to, and writes down what it is asked."""

    lookup_seconds = LOOKUP
    works = True

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now
        self.held: Held | Exception = ABSENT
        self.begun: list[tuple[Job, bool]] = []
        self.waiting: list[Waiting] = []
        self.kept: list[tuple[Job, Output, float]] = []
        self.cancelled: list[tuple[str, str]] = []
        self.never_if_joined: list[str] = []
        self.voided: list[str] = []
        self.answers = asyncio.Event()
        self.answers.set()

    async def begin(self, job: Job, *, here: bool = False) -> Held:
        self.begun.append((job, here))
        await self.answers.wait()
        if isinstance(self.held, Exception):
            raise self.held
        return self.held

    async def wait(self, job: Job, began: Callable[[float], None], word: Word | None = None) -> Held:
        assert word is not None
        self.waiting.append(Waiting(job, began, word, asyncio.get_running_loop().create_future()))
        return await self.waiting[-1].ended

    def keep(self, job: Job, output: Output, *, age: float, took: float) -> None:
        self.kept.append((job, output, age))

    def cancel(self, job: Job, reason: str, *, unless_joined: bool = False) -> None:
        self.cancelled.append((job.generation, reason))
        if unless_joined:
            self.never_if_joined.append(job.generation)

    def void(self, scope_id: str) -> None:
        self.voided.append(scope_id)


class Bench(Rig):
    """A rig with a queue and a cache."""

    def __init__(
        self, *, search: type[HandDrivenSearch] = Elsewhere, limits: ExecutorLimits | None = None, **options: Any
    ) -> None:
        super().__init__(limits=limits)
        self.queue, self.cache = ScriptedQueue(), ScriptedCache(self.clock)
        self.search = search()
        given = {"executor": self.queue, "cache": self.cache} | options
        self.engine = self.another_engine(**given)

    def ready(self, output: Output, *, age: float = 0.4, took: float = 0.3, place: int = -1) -> None:
        """The result of a job that is waited for."""
        held = Held(state=HeldState.READY, generation="", age=age, took=took, output=output)
        self.cache.waiting[place].ended.set_result(held)
        self.loop.settle()

    def ends(self, held: Held | Exception) -> None:
        waiting = self.cache.waiting[-1].ended
        if isinstance(held, Exception):
            waiting.set_exception(held)
        else:
            waiting.set_result(held)
        self.loop.settle()

    def begins(self, seconds_ago: float = 0.0) -> None:
        """A worker has taken it up."""
        self.cache.waiting[-1].began(seconds_ago)
        self.loop.settle()


def by_tenant(configurable: Mapping[str, Any]) -> Any:
    return configurable.get("tenant")


SHARING = {"scope": by_tenant, "reuse_seconds": 60.0}
MakeBench = Callable[..., Bench]
