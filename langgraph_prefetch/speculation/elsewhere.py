"""Searches that run on workers, or whose results other processes may have: one more kind of ``Work``.

Everything else stays as it is. The executor bounds it, the flight tells how it stands, the cache of this process
answers calls from it. What cannot go elsewhere runs here, as without a queue; what fails there is a miss.
"""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections.abc import Awaitable, Callable, Hashable, Mapping
from contextvars import Context, copy_context
from dataclasses import dataclass, replace
from typing import Any

from langgraph_prefetch.errors import NotDispatchedError, RemoteSearchError, UnportableError
from langgraph_prefetch.jobs import Held, HeldState, Job, JobQueue, ResultCache, Word
from langgraph_prefetch.key_digest import digest, scope_value
from langgraph_prefetch.keys import Scope, SearchKey, SharedScope
from langgraph_prefetch.ports import Caller, HasEpoch, MayRunElsewhere, Progress, SearchTool, Work
from langgraph_prefetch.values import Output

KEY_VERSION = 1
"""Part of every shared id: a result of a version that keys differently is not found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """What ``executor=`` and ``cache=`` say.

    Attributes:
        cache: where results are.
        queue: the way to workers; None: searches run here, and the cache shares what they find.
        keep_seconds: how long a result may answer.
        shares: whether results may answer more than one call at all (``reuse_seconds``).
    """

    cache: ResultCache
    queue: JobQueue | None
    keep_seconds: float
    shares: bool

    def work(self, tool: SearchTool, arguments: Mapping[str, Any], key: SearchKey, caller: Caller, local: Work) -> Work:
        """``local``, or what comes before it: a look for a result of another process, and a worker's search."""
        queue = self.queue if self.queue is not None and self.queue.takes(tool.policy.name) else None
        if not self.cache.works or not isinstance(tool, MayRunElsewhere):
            return local
        sharing = self.shares and isinstance(key.scope, SharedScope)
        if queue is None and not sharing:
            return local
        flight = _Flight(self, queue, tool, tool, arguments, key, caller, sharing)
        return Work(
            context=copy_context(),
            elsewhere=flight.fly,
            otherwise=flight.publishing(local),
            grace_seconds=self.cache.lookup_seconds,
        )

    def void(self, scope: Scope) -> None:
        """What was read in ``scope`` until now may have changed."""
        if self.shares and isinstance(scope, SharedScope) and (scope_id := scope_id_of(scope)) is not None:
            self.cache.void(scope_id)


def scope_id_of(scope: Scope) -> str | None:
    """Stands for a scope in every process; None for one that only this process can tell from others."""
    try:
        return digest("scope", scope.value) if isinstance(scope, SharedScope) else None
    except UnportableError:
        return None


class _Flight:
    """One search that may run elsewhere."""

    def __init__(
        self,
        elsewhere: Elsewhere,
        queue: JobQueue | None,
        tool: SearchTool,
        form: MayRunElsewhere,
        arguments: Mapping[str, Any],
        key: SearchKey,
        caller: Caller,
        sharing: bool,
    ) -> None:
        self._cache, self._keep_seconds, self._queue = elsewhere.cache, elsewhere.keep_seconds, queue
        self._tool, self._form, self._arguments = tool, form.form, arguments
        self._key, self._caller, self._sharing = key, caller, sharing
        self._mine: Job | None = None

    async def fly(self, progress: Progress) -> Output:
        """Look, send, wait.

        Raises:
            NotDispatchedError: it is to run here.
            RemoteSearchError: it gave nothing.
        """
        epoch = await self._epoch()
        self._mine = job = self._job(epoch)
        try:
            held = await self._held(job, progress)
        except asyncio.CancelledError:
            if self._mine is not None:  # else it is another's
                self._cache.cancel(job, "given up", unless_joined=True)
            raise
        return self._landed(held, progress, epoch)

    async def _held(self, job: Job, progress: Progress) -> Held:
        if job.scope_id is not None:
            held = await self._in_time(self._cache.begin(job, here=self._queue is None))
            if held.state is not HeldState.ABSENT:
                self._mine = None
                if held.state is HeldState.PENDING:
                    held = await self._wait(replace(job, generation=held.generation), progress)
                return held
        if self._queue is None:
            raise NotDispatchedError("nobody else searches for it")
        await self._queue.send(job)
        return await self._wait(job, progress)

    async def _wait(self, job: Job, progress: Progress) -> Held:
        word = Word()
        progress.watch(word)
        return await self._cache.wait(job, progress.start, word)

    def publishing(self, local: Work) -> Work:
        """``local``, whose result is kept for others where they may have it."""
        if (blocking := local.blocking) is not None:

            def run() -> Output:
                keep = self._keeper()
                try:
                    return keep(blocking())
                except BaseException:
                    self._failed()
                    raise

            return replace(local, blocking=run)
        if (coroutine := local.coroutine) is not None:

            async def arun() -> Output:
                keep = self._keeper()
                try:
                    return keep(await coroutine())
                except BaseException:
                    self._failed()
                    raise

            return replace(local, coroutine=arun)
        return local

    def _job(self, epoch: Hashable | None) -> Job:
        now, policy = self._cache.now(), self._tool.policy
        own = uuid.uuid4().hex
        shared, scope_id = self._shared_id(epoch), scope_id_of(self._key.scope)
        names = self._queue.configurable if self._queue is not None else ()
        seen = self._caller.configurable
        return Job(
            id=own if shared is None else shared,
            generation=own,
            tool=policy.name,
            form=self._form,
            arguments=self._arguments,
            deadline=now + policy.timeout_seconds,
            keep_seconds=self._keep_seconds,
            scope=scope_value(self._key.scope),
            configurable={name: seen[name] for name in names if name in seen},
            scope_id=None if shared is None else scope_id,
        )

    def _shared_id(self, epoch: Hashable | None) -> str | None:
        """Equal in every process for equal searches; None where no other process may or can have the result."""
        key, policy = self._key, self._tool.policy
        if not self._sharing or (epoch is None and isinstance(self._tool, HasEpoch)):
            return None
        told = (policy.name, policy.identity, self._form.value, key.arguments, key.caller)
        try:
            return digest(KEY_VERSION, *told, key.scope.value if isinstance(key.scope, SharedScope) else None, epoch)
        except UnportableError:
            return None

    def _landed(self, held: Held, progress: Progress, epoch: Hashable | None) -> Output:
        if held.state is not HeldState.READY or held.output is None:
            raise RemoteSearchError(held.reason or str(held.state))
        if held.age is not None:
            progress.start(held.age)
        if held.took is not None:
            progress.took(held.took)
        return replace(held.output, epoch=epoch)

    async def _epoch(self) -> Hashable | None:
        """Of a tool that can tell: read before the search begins, so that a write meanwhile makes it stale."""
        tool, caller = self._tool, self._caller
        return await _aside(lambda: tool.epoch(caller)) if isinstance(tool, HasEpoch) else None

    async def _in_time(self, look: Awaitable[Held]) -> Held:
        try:
            async with asyncio.timeout(self._cache.lookup_seconds):
                return await look
        except TimeoutError as error:
            raise NotDispatchedError("the cache did not answer in time") from error

    def _keeper(self) -> Callable[[Output], Output]:
        job, began = self._mine, time.monotonic()

        def keep(output: Output) -> Output:
            if job is not None and job.scope_id is not None:
                took = time.monotonic() - began
                self._cache.keep(job, output, age=took, took=took)
            return output

        return keep

    def _failed(self) -> None:
        if self._mine is not None and self._mine.scope_id is not None:
            self._cache.cancel(self._mine, "failed")


async def _aside(blocking: Callable[[], Hashable | None]) -> Hashable | None:
    """Run it on a thread of its own: one that hangs holds up neither a loop nor the end of the process."""
    loop, context = asyncio.get_running_loop(), copy_context()
    ended: asyncio.Future[Hashable | None] = loop.create_future()

    def settle(value: Hashable | None, error: BaseException | None) -> None:
        if ended.done():
            return
        if error is None:
            ended.set_result(value)
        else:
            ended.set_exception(NotDispatchedError(f"its epoch cannot be told: {type(error).__name__}"))

    threading.Thread(
        target=_tell, args=(loop, context, blocking, settle), name="langgraph-prefetch-epoch", daemon=True
    ).start()
    return await ended


def _tell(
    loop: asyncio.AbstractEventLoop,
    context: Context,
    blocking: Callable[[], Hashable | None],
    settle: Callable[[Hashable | None, BaseException | None], None],
) -> None:
    value: Hashable | None = None
    raised: BaseException | None = None
    try:
        value = context.run(blocking)
    except BaseException as error:  # noqa: BLE001 - handed over
        raised = error
    try:
        loop.call_soon_threadsafe(settle, value, raised)
    except RuntimeError:  # that loop is closed, and nobody waits
        return
