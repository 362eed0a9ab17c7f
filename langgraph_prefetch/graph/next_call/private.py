"""A model call that nobody has asked for yet: on a thread of its own, or as a task on the agent's event loop."""

from __future__ import annotations

import asyncio
import os
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, aclosing, closing, nullcontext, suppress
from contextvars import Context
from typing import Any

from langgraph_prefetch.graph.next_call.pieces import Given, Piece, Put, Raised
from langgraph_prefetch.ports import Clock

MAX_PIECES = 20_000
"""Of a call that nobody has adopted yet; longer than any message, so that one which never ends does."""

Begin = Callable[[Put], Any]
"""Makes the call: returns its iterator, or (where ``whole``) its result; for coroutines what these are for them."""


class PrivateCall(ABC):
    """One private call. Its pieces are kept in order until it is adopted; from then on they are handed through.

    Args:
        begin: makes the call, in the context that was captured for it.
        context: that context.
        around: entered in it for as long as the call runs.
        whole: the method gives a whole message, not a stream.
        clock: seconds.
        wanted: asked at each piece; once it says no the call is given up.
        on_stop: told once when it has stopped, whatever stopped it.
    """

    def __init__(
        self,
        begin: Begin,
        context: Context,
        *,
        around: Callable[[], AbstractContextManager[object]],
        whole: bool,
        clock: Clock,
        wanted: Callable[[], bool],
        on_stop: Callable[[PrivateCall], None],
    ) -> None:
        self._begin, self._context, self._whole, self._clock = begin, context, whole, clock
        self._around, self._wanted, self._on_stop = around, wanted, on_stop
        self._lock, self._process = threading.Lock(), os.getpid()
        self._pieces: deque[Piece] = deque()
        self._given: list[Any] = []
        self._stopping = self.adopted = self.complete = False
        self.started_at = clock()
        self.ended_at: float | None = None
        self.error: BaseException | None = None

    @property
    def failed(self) -> bool:
        """The model raised."""
        return self.error is not None

    @property
    def given(self) -> list[Any]:
        """What it has given so far, in order."""
        return list(self._given)

    @abstractmethod
    def start(self) -> None:
        """Begin to run. May be called on any thread, once."""

    @abstractmethod
    def cancel(self) -> None:
        """Give it up: a task at once, a thread at its next piece. Idempotent, on any thread."""

    @abstractmethod
    def _wake(self) -> None:
        """Something was put, or it stopped."""

    def put(self, piece: Piece) -> None:
        """Take one more piece."""
        self._pieces.append(piece)
        if isinstance(piece, Given) and not self.adopted:
            self._given.append(piece.value)
        self._wake()

    def adopt(self) -> bool:
        """Take it over; False if it failed, was given up, or runs in the process that this one was forked from."""
        if os.getpid() != self._process:
            return False
        with self._lock:
            cut_off = self.ended_at is not None and not self.complete
            if self._stopping or cut_off or self.error is not None:
                return False
            self.adopted = True
            return True

    def _goes_on(self) -> bool:
        wanted = self.adopted or (len(self._given) < MAX_PIECES and self._wanted())
        with self._lock:
            self._stopping |= not wanted and not self.adopted
            return not self._stopping

    def _raised(self, error: BaseException) -> None:
        if not self._stopping:
            self.error = error
            self.put(Raised(error))

    def _stopped(self) -> None:
        with self._lock:
            if self.ended_at is not None:
                return
            self.ended_at = self._clock()
        self._wake()
        self._on_stop(self)


class ThreadCall(PrivateCall):
    """On a thread of its own. It cannot be broken off before its next piece, and is paid for until then."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._news = threading.Condition(self._lock)

    def start(self) -> None:
        """Begin."""
        threading.Thread(
            target=self._context.run, args=(self._run,), name="langgraph-prefetch-next-call", daemon=True
        ).start()

    def cancel(self) -> None:
        """Give it up."""
        self._stopping = True
        if os.getpid() == self._process:  # a forked child has neither its thread nor what held its lock
            self._wake()

    def pieces(self) -> Iterator[Piece]:
        """All of them, the live ones too. One reader."""
        while True:
            with self._news:
                while not self._pieces and self.ended_at is None:
                    self._news.wait()
            if not self._pieces:
                return
            yield self._pieces.popleft()

    def _wake(self) -> None:
        with self._news:
            self._news.notify_all()

    def _run(self) -> None:
        try:
            with self._around():
                self._make()
        except BaseException as error:  # noqa: BLE001 - handed to whoever adopts it
            self._raised(error)
        finally:
            self._stopped()

    def _make(self) -> None:
        made = self._begin(self.put)
        if self._whole:
            self.put(Given(made))
        else:
            with closed_after(made) as pieces:
                for each in pieces:
                    self.put(Given(each))
                    if not self._goes_on():
                        return
        self.complete = True


class TaskCall(PrivateCall):
    """A task on the event loop that the agent's model calls run on."""

    def __init__(self, *args: Any, loop: asyncio.AbstractEventLoop, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.loop = loop
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin."""
        if not self._on_loop(self._start):
            self._stopped()

    def cancel(self) -> None:
        """Give it up."""
        self._stopping = True
        self._on_loop(self._cancel)

    async def pieces(self) -> AsyncIterator[Piece]:
        """All of them, the live ones too. One reader, on the loop."""
        while True:
            while self._pieces:
                yield self._pieces.popleft()
            if self.ended_at is not None:
                return
            self._news.clear()
            await self._news.wait()

    def _on_loop(self, callback: Callable[[], None]) -> bool:
        """Run ``callback`` on the loop, at once if this is its thread; False if it is closed."""
        with suppress(RuntimeError):
            if asyncio.get_running_loop() is self.loop:
                callback()
                return True
        try:
            self.loop.call_soon_threadsafe(callback)
        except RuntimeError:
            return False
        return True

    def _start(self) -> None:
        if self._stopping:
            self._stopped()
            return
        self._task = self.loop.create_task(self._run(), context=self._context)
        # Not in _run itself: a task cancelled before its first step runs none of its code.
        self._task.add_done_callback(lambda _: self._stopped())

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def _wake(self) -> None:
        self._news.set()

    async def _run(self) -> None:
        try:
            with self._around():
                await self._make()
        except asyncio.CancelledError as error:
            if not self._stopping:
                self._raised(error)
        except BaseException as error:  # noqa: BLE001 - handed to whoever adopts it
            self._raised(error)

    async def _make(self) -> None:
        if self._whole:
            self.put(Given(await self._begin(self.put)))
        else:
            async with aclosed_after(self._begin(self.put)) as pieces:
                async for each in pieces:
                    self.put(Given(each))
                    if not self._goes_on():
                        return
        self.complete = True


def closed_after(pieces: Iterator[Any]) -> AbstractContextManager[Iterator[Any]]:
    """Closes a generator at the end of the block; other iterators have nothing to close."""
    return closing(pieces) if hasattr(pieces, "close") else nullcontext(pieces)  # type: ignore[type-var]


def aclosed_after(pieces: AsyncIterator[Any]) -> AbstractAsyncContextManager[AsyncIterator[Any]]:
    """:func:`closed_after` for asynchronous iterators."""
    return aclosing(pieces) if hasattr(pieces, "aclose") else nullcontext(pieces)  # type: ignore[type-var]
