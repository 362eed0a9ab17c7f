"""What every prefetcher of a process shares: one executor, one ledger, one cache for results that may cross runs."""

from __future__ import annotations

import os
import time
from collections.abc import Hashable
from dataclasses import dataclass

from cachetools import TTLCache

from langgraph_prefetch.config import ExecutorLimits
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.ports import Clock
from langgraph_prefetch.speculation.budget import Ledger
from langgraph_prefetch.speculation.cache import SpeculationCache
from langgraph_prefetch.speculation.executor import Executor
from langgraph_prefetch.speculation.loops import BackgroundLoop, LoopHost
from langgraph_prefetch.speculation.reading import (
    Gathering,
    Reading,
    ReadingAtOnce,
    ReadingThread,
    SameGathering,
)
from langgraph_prefetch.values import Output

MAX_SHARED_ENTRIES = 1_024
MAX_RESUMABLE = 1_024
RESUMABLE_SECONDS = 3_600.0


class ResumableAnswers:
    """Answers of calls whose tool node was interrupted: on resume the same call id is the same call. Bounded."""

    def __init__(self, clock: Clock) -> None:
        self._lock = ForkSafeLock()
        self._answers: TTLCache[Hashable, Output] = TTLCache(MAX_RESUMABLE, RESUMABLE_SECONDS, timer=clock)

    def keep(self, call: Hashable, output: Output) -> None:
        """Remember ``output`` for ``call``."""
        with self._lock:
            self._answers[call] = output

    def get(self, call: Hashable) -> Output | None:
        """What was remembered for ``call``."""
        with self._lock:
            return self._answers.get(call)


@dataclass(frozen=True, slots=True)
class Shared:
    """The process-wide parts. Tests and replay make their own with :meth:`made`."""

    clock: Clock
    executor: Executor
    ledger: Ledger
    cache: SpeculationCache
    resumable: ResumableAnswers
    reading: Reading

    @classmethod
    def made(
        cls,
        host: LoopHost,
        *,
        limits: ExecutorLimits | None = None,
        clock: Clock = time.monotonic,
        reading: Reading | None = None,
    ) -> Shared:
        """A set of its own; streams are read at once unless ``reading`` is given."""
        return cls(
            clock,
            Executor(host, limits or ExecutorLimits(), clock),
            Ledger(clock),
            SpeculationCache(MAX_SHARED_ENTRIES, clock),
            ResumableAnswers(clock),
            reading or ReadingAtOnce(),
        )


_lock = ForkSafeLock()
_process: Shared | None = None
_limits = ExecutorLimits()
_gathering: Gathering = SameGathering()


def process_wide() -> Shared:
    """The process's own set, made at first use and made anew in a forked child."""
    global _process
    with _lock:
        if _process is None:
            _process = Shared.made(BackgroundLoop(), limits=_limits, reading=ReadingThread(_gathering))
        return _process


def limit_process(limits: ExecutorLimits) -> None:
    """Set the bounds of the process-wide executor. What runs already is finished under the old ones."""
    global _limits, _process
    with _lock:
        _limits, _process = limits, None


def gather_by(gathering: Gathering) -> None:
    """Set how long tokens gather before the process's reading thread reads them; at once for one that runs."""
    global _gathering
    with _lock:
        _gathering = gathering
        if _process is not None and isinstance(_process.reading, ReadingThread):
            _process.reading.gathering = gathering


def _forget() -> None:
    global _process
    _process = None


os.register_at_fork(after_in_child=_forget)
