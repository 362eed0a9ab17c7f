"""The worker's loop: take messages as there is room, keep them while they are worked on, stop in an orderly way."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import uuid
from typing import Any

from langgraph_prefetch.aws.connection import Connection
from langgraph_prefetch.aws.dynamodb import DynamoDBCache
from langgraph_prefetch.aws.threads import Threads
from langgraph_prefetch.aws.worker.counters import Counters
from langgraph_prefetch.aws.worker.handling import Delivery, Handling
from langgraph_prefetch.aws.worker.inbox import MOST_AT_ONCE, READ_MARGIN_SECONDS, Inbox
from langgraph_prefetch.aws.worker.searches import Searches
from langgraph_prefetch.aws.worker.settings import WorkerSettings

FIRST_PAUSE_SECONDS, MOST_PAUSE_SECONDS = 0.2, 5.0
"""Between polls of a queue that does not answer."""
BROKEN_SECONDS = 60.0
"""A worker whose queue has not answered for so long is not alive."""
SPARE_THREADS = 4

logger = logging.getLogger("langgraph_prefetch.worker")


class Worker:
    """Searches for agents, until it is stopped.

    Args:
        queue_url: of the queue that their ``SQSExecutor`` fills.
        cache: their table.
        retriever: see :class:`~langgraph_prefetch.aws.worker.searches.Searches`.
        settings: how it works.
        session: a ``boto3.Session`` for the queue; None: the environment's.
        region_name: of the queue; None: the session's.
        endpoint_url: where SQS is, if not where AWS has it.

    Attributes:
        counters: what it has done.

    Raises:
        RetrieverError: nothing that searches.
        ConfigurationError: no region is known.
    """

    def __init__(
        self,
        queue_url: str,
        cache: DynamoDBCache,
        retriever: Any,
        settings: WorkerSettings | None = None,
        *,
        session: Any = None,
        region_name: str | None = None,
        endpoint_url: str | None = None,
    ) -> None:
        self._settings = settings = settings or WorkerSettings()
        self.counters = Counters()
        self._cache = cache
        self._connection = Connection(
            "sqs",
            session=session,
            region_name=region_name,
            endpoint_url=endpoint_url,
            connections=SPARE_THREADS + 1,
            read_seconds=settings.wait_seconds + READ_MARGIN_SECONDS,
        )
        self._inbox = Inbox(queue_url, self._connection, settings.visibility_seconds, settings.wait_seconds)
        searches = Searches(retriever, Threads("langgraph-prefetch-search", settings.concurrency))
        owner = uuid.uuid4().hex
        self._handling = Handling(self._inbox, cache, searches, settings, self.counters, owner)
        self._held: set[Delivery] = set()
        self._unhandled = 0
        self._room = asyncio.Event()
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._heard_at = time.monotonic()
        self._ready = self._stopping = False

    def check(self) -> None:
        """Look at queue and table; blocks.

        Raises:
            CredentialsError, QueueUnusableError, TableUnusableError: the message says what to do.
        """
        self._inbox.check()
        self._cache.check()
        if not self._inbox.has_dead_letters:
            logger.warning("the queue has no dead-letter queue: messages that nobody can read are deleted")

    def state(self) -> dict[str, object]:
        """For the health endpoint: what speaks against it, and its numbers."""
        silent = time.monotonic() - self._heard_at
        alive = None if silent < BROKEN_SECONDS else f"the queue has not answered for {silent:.0f} s"
        ready = "it is stopping" if self._stopping else None if self._ready else "it is starting"
        return {"alive": alive, "ready": ready, **self.counters.values()}

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set, then let what is under way end, for ``drain_seconds`` at most."""
        stopping = asyncio.create_task(stop.wait())
        keeping = asyncio.create_task(self._keep())
        taking = asyncio.create_task(self._take(stop))
        self._ready = True
        try:
            await asyncio.wait([stopping, taking], return_when=asyncio.FIRST_COMPLETED)
            self._stopping = True
            stop.set()
            await self._drain(taking)
        finally:
            for task in (stopping, keeping, taking):
                task.cancel()
            await asyncio.gather(stopping, keeping, taking, return_exceptions=True)

    def close(self) -> None:
        """Let threads and sockets go."""
        self._connection.close()

    async def _take(self, stop: asyncio.Event) -> None:
        most = self._settings.concurrency + self._settings.prefetch
        least = max(1, min(MOST_AT_ONCE, self._settings.prefetch // 2))  # half of the spare ones: the rest do for now
        pause = FIRST_PAUSE_SECONDS
        while not stop.is_set():
            room = most - self._unhandled
            if room < least:
                self._room.clear()
                await self._room.wait()
                continue
            try:
                if not self._cache.works:  # a message that cannot be taken up would only wear itself out
                    raise ConnectionError("the table does not work")
                messages = await self._inbox.take(room)
            except Exception as error:  # noqa: BLE001 - the queue is away; it will be back
                self.counters.add("receive_errors")
                logger.warning("no messages: %s; next attempt in %.1f s", type(error).__name__, pause)
                await _either(stop.wait(), pause)
                pause = min(MOST_PAUSE_SECONDS, 2 * pause)
                continue
            pause, self._heard_at = FIRST_PAUSE_SECONDS, time.monotonic()
            for message in messages:
                self.counters.add("received")
                delivery = Delivery(message)
                self._held.add(delivery)
                self._unhandled += 1
                if stop.is_set():  # they came with the last poll
                    continue
                delivery.task = asyncio.create_task(self._work(delivery))
            self.counters.held = len(self._held)

    async def _work(self, delivery: Delivery) -> None:
        async with self._slots:
            if self._stopping:
                return  # the drain gives it back
            try:
                await self._handling.handle(delivery)
            except Exception as error:  # noqa: BLE001 - a fault of ours must not end the worker; the message comes again
                logger.error("message %s was not handled: %s", delivery.message.id, type(error).__name__)
            finally:
                self._unhandled -= 1
                self._room.set()
        await self._handling.settle(delivery)
        self._held.discard(delivery)
        self.counters.held = len(self._held)

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(self._settings.visibility_seconds / 3)
            held = list(self._held)
            await self._inbox.keep(each.message for each in held)
            await asyncio.gather(*(self._handling.extend(each) for each in held))

    async def _drain(self, taking: asyncio.Task[None]) -> None:
        """Let running searches end; give everything else back."""
        self._room.set()
        until = time.monotonic() + self._settings.drain_seconds
        # The last poll may still bring messages, also those that are given back below; they would be invisible to all
        # until their time is over.
        await asyncio.wait([taking], timeout=self._settings.wait_seconds + READ_MARGIN_SECONDS)
        working = [each.task for each in self._held if each.task is not None]
        if working:
            logger.info("stopping: %d messages are held", len(self._held))
            await asyncio.wait(working, timeout=max(0.0, until - time.monotonic()))
        for each in list(self._held):
            if each.task is not None and not each.task.done():
                each.task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await each.task
        await asyncio.gather(*(self._handling.give_up(each) for each in self._held))
        self._held.clear()
        self.counters.held = 0


async def _either(done: Any, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(done, seconds)
