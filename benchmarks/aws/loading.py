"""Many searches through queue, table and workers, each waited for: what an agent's process does, without models."""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from langgraph_prefetch.aws import DynamoDBCache, SQSExecutor
from langgraph_prefetch.errors import NotDispatchedError, RemoteSearchError
from langgraph_prefetch.jobs import Form, HeldState, Job

KEEP_SECONDS = 900.0


@dataclass
class Loaded:
    """What became of the searches of one load.

    Attributes:
        sent: how many were to be dispatched.
        answers: by query, what came back.
        refused: by query, why it could not be sent: an agent searches for that itself, at once.
        troubles: by query, why nothing came of one that was sent.
        seconds: from the first dispatch to the last answer.
        delays: from each dispatch to its answer.
    """

    sent: int = 0
    answers: dict[str, object] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    troubles: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    delays: list[float] = field(default_factory=list)

    @property
    def lost(self) -> int:
        """Searches that were sent and not answered."""
        return self.sent - len(self.refused) - len(self.answers)

    @property
    def reasons(self) -> Counter[str]:
        """Of what was refused or lost, how often each."""
        unknown = self.lost - len(self.troubles)
        told = Counter([*self.refused.values(), *self.troubles.values()])
        return told + Counter({"nobody told why": unknown})

    @property
    def why(self) -> str:
        """What was refused or lost, in brackets; nothing if nothing was."""
        return in_brackets(self.reasons)

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.answers) / self.seconds if self.seconds else 0.0

    def delay(self, share: float) -> float:
        """A quantile of the delays, 0 without any."""
        return statistics.quantiles(self.delays, n=1000)[round(share * 1000) - 1] if len(self.delays) > 1 else 0.0


def in_brackets(reasons: Counter[str]) -> str:
    """How often each; nothing of none."""
    return "".join(f" ({count}: {reason})" for reason, count in reasons.most_common())


class Load:
    """Dispatches searches and waits for them.

    Args:
        executor: sends them.
        cache: has their results.
        deadline_seconds: of each.

    Attributes:
        jobs: by the name of its result, the query of every search that was dispatched.
    """

    def __init__(self, executor: SQSExecutor, cache: DynamoDBCache, deadline_seconds: float) -> None:
        self._executor, self._cache, self._deadline_seconds = executor, cache, deadline_seconds
        self.jobs: dict[str, str] = {}

    async def at_rate(self, count: int, per_second: float, name: str) -> Loaded:
        """``count`` searches, begun at this rate whether the others are answered or not."""
        loaded, began = Loaded(), time.perf_counter()
        async with asyncio.TaskGroup() as tasks:
            for number in range(count):
                pause = began + number / per_second - time.perf_counter()
                if pause > 0:
                    await asyncio.sleep(pause)
                tasks.create_task(self._one(f"{name} {number}", loaded))
        loaded.seconds = time.perf_counter() - began
        return loaded

    async def at_once(self, count: int, most: int, name: str) -> Loaded:
        """``count`` searches, ``most`` of them under way at a time."""
        loaded, began, numbers = Loaded(), time.perf_counter(), iter(range(count))

        async def one_after_another() -> None:
            for number in numbers:
                await self._one(f"{name} {number}", loaded)

        async with asyncio.TaskGroup() as tasks:
            for _ in range(most):
                tasks.create_task(one_after_another())
        loaded.seconds = time.perf_counter() - began
        return loaded

    async def _one(self, query: str, loaded: Loaded) -> None:
        job = Job(
            id=uuid.uuid4().hex,
            generation=uuid.uuid4().hex,
            tool="search",
            form=Form.MESSAGE,
            arguments={"query": query},
            deadline=self._cache.now() + self._deadline_seconds,
            keep_seconds=KEEP_SECONDS,
        )
        loaded.sent += 1
        self.jobs[job.id] = query
        began = time.perf_counter()
        try:
            await self._executor.send(job)
            held = await self._cache.wait(job, lambda _: None)
        except NotDispatchedError as error:
            loaded.refused[query] = str(error)
            return
        except RemoteSearchError as error:
            loaded.troubles[query] = str(error)
            return
        if held.state is HeldState.READY and held.output is not None:
            loaded.answers[query] = held.output.content
            loaded.delays.append(time.perf_counter() - began)
        else:
            loaded.troubles[query] = held.reason or str(held.state)


@contextlib.contextmanager
def loading(executor: SQSExecutor, cache: DynamoDBCache, deadline_seconds: float = 60.0) -> Iterator[Load]:
    """A load whose executor and cache are closed afterwards."""
    try:
        yield Load(executor, cache, deadline_seconds)
    finally:
        executor.close()
        cache.close()
