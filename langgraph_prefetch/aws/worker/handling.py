"""One message, from its delivery to its end: every way out settles it, and none of them raises."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from langgraph_prefetch.aws.dynamodb import DynamoDBCache
from langgraph_prefetch.aws.messages import job_of
from langgraph_prefetch.aws.outputs import Packed, is_short, pack
from langgraph_prefetch.aws.table import Claim
from langgraph_prefetch.aws.worker.counters import Counters
from langgraph_prefetch.aws.worker.inbox import Inbox, Message
from langgraph_prefetch.aws.worker.searches import Searches
from langgraph_prefetch.aws.worker.settings import WorkerSettings
from langgraph_prefetch.aws.worker.writes import Found, Writes
from langgraph_prefetch.errors import UnportableError, UnreadableItemError
from langgraph_prefetch.jobs import Job
from langgraph_prefetch.values import Output

BUSY_TABLE_SECONDS = 1.0
"""A message that the table did not let us take up comes again after so long."""
WRITE_PAUSES_SECONDS = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Before each further attempt to write a result; the search is not done again for a throttled write."""

Result = TypeVar("Result")

logger = logging.getLogger("langgraph_prefetch.worker")


class Settled(StrEnum):
    """What becomes of a message. ``LEFT``: it is given back already, or comes again by itself."""

    DELETE = "delete"
    DEAD_LETTER = "dead letter"
    LEFT = "left"


@dataclass(slots=True, eq=False)
class Delivery:
    """A message that this worker holds.

    Attributes:
        message: the message.
        job: its job, once this worker has claimed it.
        task: handles it.
        search: the search, while it runs.
        end: what becomes of the message, once that is known.
    """

    message: Message
    job: Job | None = None
    task: asyncio.Task[None] | None = None
    search: asyncio.Task[Output] | None = None
    end: Settled | None = None


class Handling:
    """Handles deliveries.

    Args:
        inbox: where they come from.
        cache: where results go.
        searches: carries jobs out.
        settings: how often, how large.
        counters: what is counted.
        owner: the name under which this worker claims jobs.
    """

    def __init__(
        self,
        inbox: Inbox,
        cache: DynamoDBCache,
        searches: Searches,
        settings: WorkerSettings,
        counters: Counters,
        owner: str,
    ) -> None:
        self._inbox, self._cache, self._searches = inbox, cache, searches
        self._settings, self._counters, self._owner = settings, counters, owner
        self._writes = Writes(cache.table, cache.connection, owner, settings.visibility_seconds, cache.now)

    async def handle(self, delivery: Delivery) -> None:
        """Do what one asks for; it is not settled yet."""
        delivery.end = await self._handled(delivery)

    async def settle(self, delivery: Delivery) -> None:
        """Let the queue know what became of one that was handled. One without an end comes again by itself."""
        message, end = delivery.message, delivery.end
        if end is Settled.DEAD_LETTER and self._inbox.has_dead_letters:
            await self._inbox.give_back([message])  # the queue moves it there when it has come too often
        elif end in (Settled.DELETE, Settled.DEAD_LETTER):
            await self._inbox.delete(message)

    async def extend(self, delivery: Delivery) -> None:
        """Keep the claim of a running search; one that was given up, or lost to another worker, is stopped."""
        job, search = delivery.job, delivery.search
        if job is None or search is None:
            return
        lease, now = self._settings.visibility_seconds, self._cache.now
        try:
            kept = await self._table(lambda: self._cache.table.extend(job, self._owner, lease, now()))
        except Exception as error:  # noqa: BLE001 - the lease may yet last until the table answers again
            logger.debug("a claim was not extended: %s", type(error).__name__)
            return
        if not kept:
            search.cancel()

    async def give_up(self, delivery: Delivery) -> None:
        """The worker stops: let others have the job, unless it is done with."""
        if delivery.end is not None:
            return
        job = delivery.job
        if job is not None:
            try:
                await self._table(lambda: self._cache.table.release(job, self._owner))
            except Exception as error:  # noqa: BLE001 - then its lease runs out
                logger.debug("a claim was not released: %s", type(error).__name__)
        await self._inbox.give_back([delivery.message])
        self._counters.add("returned")

    async def _handled(self, delivery: Delivery) -> Settled:
        try:
            job = job_of(delivery.message.body)
        except UnreadableItemError as error:
            self._counters.add("unreadable")
            logger.error("message %s is refused: %s", delivery.message.id, error)
            return Settled.DEAD_LETTER
        if self._cache.now() >= job.deadline:
            self._counters.add("expired")
            return Settled.DELETE
        try:
            claim = await self._writes.claim(job)
        except Exception as error:  # noqa: BLE001 - the table does not answer now
            logger.warning("a job was not taken up: %s", type(error).__name__)
            self._counters.add("retried")
            await self._inbox.give_back([delivery.message], BUSY_TABLE_SECONDS)
            return Settled.LEFT
        match claim:
            case Claim.MINE:
                delivery.job = job
                return await self._searched(delivery, job)
            case Claim.BUSY:
                self._counters.add("duplicate")
                await self._inbox.give_back([delivery.message], self._settings.visibility_seconds)
                return Settled.LEFT
            case Claim.DONE:
                self._counters.add("duplicate")
                return Settled.DELETE
            case Claim.FAILED:
                self._counters.add("duplicate")
                return Settled.DEAD_LETTER

    async def _searched(self, delivery: Delivery, job: Job) -> Settled:
        began = self._cache.now()
        clock = asyncio.get_running_loop().time
        started = clock()
        self._counters.add("started")
        delivery.search = asyncio.create_task(self._searches.run(job))
        limit = asyncio.timeout(max(0.0, job.deadline - began))
        try:
            async with limit:
                output = await delivery.search
        except asyncio.CancelledError:
            if not delivery.search.cancelled() or _is_cancelling():
                raise  # the worker itself stops
            self._counters.add("lost")
            return Settled.DELETE
        except TimeoutError as error:
            if not limit.expired():  # the search's own
                return await self._raised(delivery, job, error)
            self._counters.add("expired")
            await self._failed(job, "it did not end in time")
            return Settled.DELETE
        except UnreadableItemError as error:
            self._counters.add("unreadable")
            logger.error("message %s is refused: %s", delivery.message.id, error)
            await self._failed(job, "refused")
            return Settled.DEAD_LETTER
        except BaseException as error:  # noqa: BLE001 - whatever a search raises, the worker goes on
            return await self._raised(delivery, job, error)
        finally:
            delivery.search = None
            took = clock() - started
            self._counters.add("search_seconds", took)
        return await self._written(job, output, began, took)

    async def _raised(self, delivery: Delivery, job: Job, error: BaseException) -> Settled:
        name = type(error).__name__
        if delivery.message.receives < self._settings.attempts and not isinstance(error, UnportableError):
            try:
                await self._table(lambda: self._cache.table.release(job, self._owner))
            except Exception as trouble:  # noqa: BLE001 - then its lease runs out first
                logger.debug("a claim was not released: %s", type(trouble).__name__)
            logger.warning("a search of %r raised %s; it is tried again", job.tool, name)
            self._counters.add("retried")
            await self._inbox.give_back([delivery.message])
            return Settled.LEFT
        logger.error("a search of %r failed: %s", job.tool, name)
        self._counters.add("failed")
        await self._failed(job, name)
        return Settled.DEAD_LETTER

    async def _written(self, job: Job, output: Output, began: float, took: float) -> Settled:
        try:
            found = Found(job, await self._packed(output), began, took)
            mine = await self._again_and_again(lambda: self._writes.finish(found), job.deadline)
        except UnportableError as error:
            logger.error("a result of %r is not kept: %s", job.tool, error)
            self._counters.add("failed")
            await self._failed(job, type(error).__name__)
            return Settled.DELETE
        except Exception as error:  # noqa: BLE001 - the table does not answer; nobody hears of the result
            logger.error("a result of %r was not written: %s", job.tool, type(error).__name__)
            self._counters.add("failed")
            return Settled.DELETE
        self._counters.add("served" if mine else "lost")
        return Settled.DELETE

    async def _failed(self, job: Job, reason: str) -> None:
        try:
            await self._table(lambda: self._cache.table.fail(job, self._owner, reason, self._cache.now()))
        except Exception as error:  # noqa: BLE001 - those who wait give up at their own deadline
            logger.debug("a failure was not told: %s", type(error).__name__)

    async def _packed(self, output: Output) -> Packed:
        most = self._settings.most_result_bytes
        return pack(output, most) if is_short(output) else await self._table(lambda: pack(output, most))

    async def _again_and_again(self, write: Callable[[], Awaitable[bool]], deadline: float) -> bool:
        for pause in WRITE_PAUSES_SECONDS:
            try:
                return await write()
            except UnportableError:
                raise
            except Exception:  # throttled, or away for a moment
                if self._cache.now() + pause >= deadline:
                    raise
            await asyncio.sleep(pause)
        return await write()

    async def _table(self, call: Callable[[], Result]) -> Result:
        return await self._cache.connection.threads.run(call)


def _is_cancelling() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
