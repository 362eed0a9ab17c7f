"""Work for an event loop, from the gate to its result, without a thread that waits."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

import sqlalchemy as sa

from langgraph_prefetch.retrieval.database.admission import Ticket
from langgraph_prefetch.retrieval.database.cancelling import Cancelling
from langgraph_prefetch.retrieval.database.shared import Shared, part

T = TypeVar("T")


class Awaited(Generic[T]):
    """One call of ``arun``. Made, asked and cancelled on its loop; done on a thread of the database's."""

    def __init__(
        self, shared: Shared, work: Callable[[sa.Connection], T], *, speculative: bool, autocommit: bool
    ) -> None:
        self._shared, self._work, self._speculative, self._autocommit = shared, work, speculative, autocommit
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[T] = self._loop.create_future()
        self._future.add_done_callback(_seen)
        self._context = contextvars.copy_context()
        self._cancelling = Cancelling()

    async def result(self) -> T:
        """Wait for a connection and for the work.

        Cancelling this cancels the query and waits until the connection is back, ``cancel_seconds`` at most.
        """
        ticket = self._shared.gate.ask(self._entered, speculative=self._speculative)
        patience: asyncio.TimerHandle | None = None
        if ticket is None:
            self._entered()
        else:
            patience = self._loop.call_later(self._shared.limits.wait_seconds, self._give_up, ticket)
        try:
            await asyncio.wait([self._future])  # cancelling this leaves the future alone, and nobody reports its error
        except asyncio.CancelledError:
            await self._cancel(ticket)
            raise
        finally:
            if patience is not None:
                patience.cancel()
        return self._future.result()

    def _entered(self) -> None:
        try:
            self._shared.workers.submit(self._do)
        except RuntimeError as error:  # no more threads
            self._shared.gate.leave(speculative=self._speculative)
            self._tell(error, None)

    def _do(self) -> None:
        result: T | None = None
        error: BaseException | None = None
        try:
            result = self._context.run(self._in_a_transaction)
        except BaseException as raised:  # noqa: BLE001 - whatever it is, it belongs to the caller
            error = raised
        self._cancelling.end()
        self._shared.gate.leave(speculative=self._speculative)
        self._tell(error, result)

    def _in_a_transaction(self) -> T:
        return self._shared.run(self._work, autocommit=self._autocommit, cancelling=self._cancelling)

    def _tell(self, error: BaseException | None, result: T | None) -> None:
        with suppress(RuntimeError):  # the loop has been closed: nobody is left to be told
            self._loop.call_soon_threadsafe(self._settle, error, result)

    def _settle(self, error: BaseException | None, result: T | None) -> None:
        if self._future.done():
            return
        if error is None:
            self._future.set_result(result)  # type: ignore[arg-type]
        elif isinstance(error, StopIteration):  # a future does not take it
            self._future.set_exception(RuntimeError("the work raised StopIteration"))
        else:
            self._future.set_exception(error)

    def _give_up(self, ticket: Ticket) -> None:
        if self._shared.gate.withdraw(ticket):
            waited = self._shared.limits.wait_seconds
            self._settle(self._shared.gate.refusal(waited, speculative=self._speculative), None)

    async def _cancel(self, ticket: Ticket | None) -> None:
        self._cancelling.give_up()
        if self._future.done() or (ticket is not None and self._shared.gate.withdraw(ticket)):
            return
        seconds = self._shared.limits.cancel_seconds
        with suppress(RuntimeError):  # no more threads: then the query ends by itself
            self._shared.workers.submit(lambda: self._cancelling.cancel(seconds))
        await asyncio.wait([self._future], timeout=seconds)


def _seen(future: asyncio.Future[T]) -> None:
    """An error that comes after its caller went away is nobody's any more: asyncio would report it as forgotten."""
    if not future.cancelled():
        future.exception()


async def closed_by_a_worker(shared: Shared) -> None:
    """Part from the pool on one of its own threads."""
    done: concurrent.futures.Future[None] = concurrent.futures.Future()

    def leave() -> None:
        try:
            part(shared)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it belongs to the caller
            done.set_exception(error)
        else:
            done.set_result(None)

    shared.workers.submit(leave)
    await asyncio.shield(asyncio.wrap_future(done))
