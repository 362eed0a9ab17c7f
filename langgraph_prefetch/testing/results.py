"""Results of searches in memory: what a :class:`~langgraph_prefetch.jobs.ResultCache` does, without another machine."""

from __future__ import annotations

import time
from collections.abc import Callable

from langgraph_prefetch.errors import RemoteSearchError
from langgraph_prefetch.jobs import ABSENT, Held, HeldState, Job, Word
from langgraph_prefetch.keys import RunScope, SearchKey, search_key, shared_scope
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.speculation.cache import Entry, SpeculationCache, snapshot
from langgraph_prefetch.speculation.flight import Flight, FlightState
from langgraph_prefetch.values import Output

LOOKUP_SECONDS = 0.1
FAILED_SECONDS = 2.0


class _Begun(Entry):
    """What one dispatch began: ``generation``. ``runs``: all who were told of it while it was pending, and that one."""

    __slots__ = ("generation",)

    def __init__(self, job: Job, flight: Flight) -> None:
        super().__init__(_key(job), None, flight, job.deadline)
        self.generation = job.generation


class MemoryResults:
    """Over the same :class:`~langgraph_prefetch.speculation.cache.SpeculationCache` that an agent's process has.

    For tests of agents with an executor of their own, and of executors. A worker's verbs are :meth:`claim`,
    :meth:`finish` and :meth:`fail`.

    Args:
        clock: epoch seconds.
        max_entries: beyond it the least recently used result is dropped.
    """

    def __init__(self, clock: Callable[[], float] = time.time, max_entries: int = 1_024) -> None:
        self._clock = clock
        self._cache = SpeculationCache(max_entries, clock)
        self._lock = ForkSafeLock()

    @property
    def lookup_seconds(self) -> float:
        """How long one look may take."""
        return LOOKUP_SECONDS

    @property
    def works(self) -> bool:
        """Always."""
        return True

    def now(self) -> float:
        """Epoch seconds."""
        return self._clock()

    async def begin(self, job: Job, *, here: bool = False) -> Held:
        """See the port."""
        with self._lock:  # against one that gives it up at the same moment
            entry, new = self._entry(job)
            if not new:
                entry.runs.add(job.generation)
                return self._held(entry)
        if here:
            entry.flight.start()
        return ABSENT

    async def wait(self, job: Job, began: Callable[[float], None], word: Word | None = None) -> Held:
        """See the port."""
        entry, _ = self._entry(job)
        told = False
        while entry.state in (FlightState.QUEUED, FlightState.RUNNING) and self._clock() < job.deadline:
            await entry.flight.await_(0.005)
            if entry.flight.started_at is not None and not told:
                told = True
                began(max(0.0, self._clock() - entry.flight.started_at))
        held = self._held(entry)
        if held.state is HeldState.PENDING:
            raise RemoteSearchError("it did not end in time")
        return held

    def keep(self, job: Job, output: Output, *, age: float, took: float) -> None:
        """See the port."""
        entry = self._peek(job)
        if entry is not None and self._is_of(entry, job):
            self._land(entry, job, output, age, took)

    def cancel(self, job: Job, reason: str, *, unless_joined: bool = False) -> None:
        """See the port."""
        with self._lock:
            entry, _ = self._entry(job)
            if self._is_of(entry, job) and not (unless_joined and entry.runs != {job.generation}):
                entry.flight.cancel()

    def void(self, scope_id: str) -> None:
        """See the port."""
        self._cache.void(shared_scope(scope_id))

    def claim(self, job: Job) -> bool:
        """A worker takes ``job`` up; False if it is done, given up, or another's."""
        entry, _ = self._entry(job)
        if not self._is_of(entry, job) or entry.state is not FlightState.QUEUED:
            return False
        entry.flight.start()
        return True

    def finish(self, job: Job, output: Output) -> bool:
        """A worker hands a result over; False if nobody wants it any more."""
        entry = self._peek(job)
        if entry is None or not self._is_of(entry, job) or entry.state is not FlightState.RUNNING:
            return False
        took = self._clock() - entry.as_of
        return self._land(entry, job, output, took, took)

    def fail(self, job: Job, reason: str) -> None:
        """A worker's search failed."""
        entry = self._peek(job)
        if entry is not None and self._is_of(entry, job):
            entry.flight.fail(RemoteSearchError(reason))
            entry.expires_at = self._clock() + FAILED_SECONDS
            self._put_again(entry)

    def _peek(self, job: Job) -> _Begun | None:
        entry = self._cache.peek(_key(job))
        return entry if isinstance(entry, _Begun) else None

    def _entry(self, job: Job) -> tuple[_Begun, bool]:
        """The entry of a job's id, begun by this one if there was none; True if it was."""
        before = self._peek(job)
        if before is not None and (before.state is not FlightState.CANCELLED or self._is_of(before, job)):
            return before, False
        mine = _Begun(job, Flight(self._clock))
        entry, new = self._cache.begin(_key(job), job.generation, lambda: mine)
        return (entry, new) if isinstance(entry, _Begun) else (mine, new)

    def _land(self, entry: Entry, job: Job, output: Output, age: float, took: float) -> bool:
        kept = snapshot(output)
        if kept is None:
            return False
        entry.flight.start(age)
        entry.flight.took(took)
        entry.expires_at = entry.as_of + job.keep_seconds
        self._put_again(entry)
        return entry.flight.land(kept)

    def _put_again(self, entry: Entry) -> None:
        """The cache reads an entry's time when it is put."""
        self._cache.remove(entry)
        self._cache.put(entry)

    def _is_of(self, entry: _Begun, job: Job) -> bool:
        return entry.generation == job.generation

    def _held(self, entry: _Begun) -> Held:
        generation, started = entry.generation, entry.flight.started_at
        age = None if started is None else max(0.0, self._clock() - started)
        match entry.state:
            case FlightState.READY:
                output = entry.flight.output
                kept = snapshot(output) if output is not None else None
                state = HeldState.READY
                return Held(state=state, generation=generation, age=age, took=entry.flight.seconds, output=kept)
            case FlightState.FAILED:
                reason = getattr(entry.flight.error, "reason", "")
                return Held(state=HeldState.FAILED, generation=generation, reason=reason)
            case FlightState.CANCELLED:
                return Held(state=HeldState.CANCELLED, generation=generation)
        return Held(state=HeldState.PENDING, generation=generation, age=age)


def _key(job: Job) -> SearchKey:
    scope = RunScope(job.id) if job.scope_id is None else shared_scope(job.scope_id)
    return search_key("job", {"id": job.id}, (), scope)
