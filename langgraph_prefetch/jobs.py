"""Searches that run on another machine: the values, and what takes them there and keeps what they found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf
from typing import Any, Protocol, runtime_checkable

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.values import Output


class Form(StrEnum):
    """What of a search is its output.

    ``MESSAGE``: content and artifact of the ``ToolMessage`` that a tool makes of a call. ``RESULT``: what a tool gives
    for plain arguments. ``DOCUMENTS``: the documents of a retriever.
    """

    MESSAGE = "message"
    RESULT = "result"
    DOCUMENTS = "documents"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One search, with all that its worker is told. Times are seconds of the cache's clock.

    Attributes:
        id: the name of its result. Where results are not shared it is a random one that nobody else knows.
        generation: of this dispatch; a result of another one is not what was asked for.
        tool: the tool's name.
        form: what of the search is wanted.
        arguments: as the model wrote them, defaults in, injected ones out; JSON values.
        scope: the value of the explicit scope, a JSON value; None where results stay within a run.
        configurable: those values under ``configurable`` that were declared as what the search may depend on.
        deadline: after it nobody waits; work that has not begun is dropped.
        keep_seconds: how long its result may be kept, counted from when the search began to read.
        scope_id: stands for the scope where results are shared within it; None where they are not shared.
    """

    id: str
    generation: str
    tool: str
    form: Form
    arguments: Mapping[str, Any] = field(hash=False, repr=False)
    deadline: float
    keep_seconds: float
    scope: Any = field(default=None, hash=False, repr=False)
    configurable: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)
    scope_id: str | None = None


class HeldState(StrEnum):
    """Where a search stands, as far as the cache knows."""

    ABSENT = "absent"
    PENDING = "pending"
    READY = "ready"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What a cache holds of one search.

    Attributes:
        state: where it stands. A pending one has been begun by a worker if it has an ``age``.
        generation: of the dispatch that it belongs to.
        age: seconds since the search began to read.
        took: seconds that it took.
        output: of a ready one.
        reason: of a failed one, the name of what its worker ran into.
    """

    state: HeldState
    generation: str = ""
    age: float | None = None
    took: float | None = None
    output: Output | None = field(default=None, repr=False)
    reason: str = ""


ABSENT = Held(state=HeldState.ABSENT)


def _ask_nobody() -> None:
    """There is nobody to ask."""


@dataclass(slots=True, eq=False)
class Word:
    """When a cache last had word of a search: kept by the cache that is waited for, read by the calls that wait.

    A call goes on waiting only for as long as there is word, so that a cache that falls silent, or is slow, costs it
    one look. A cache that never sets ``heard_at`` is believed to be there. Times are those of ``time.monotonic``.

    Attributes:
        heard_at: when the last look was answered; None: the cache does not tell.
        pause_seconds: from that answer to the next look.
        answer_seconds: how long a look may take.
        ask: look at once, and often from here on, since a call is waiting; never blocks.
    """

    heard_at: float | None = None
    pause_seconds: float = 0.0
    answer_seconds: float = 0.0
    ask: Callable[[], None] = _ask_nobody

    def silent_at(self, since: float) -> float:
        """When a call that has been waiting since then has had no word for too long, as far as is known now."""
        if self.heard_at is None:
            return inf
        if self.heard_at < since:  # it had the cache asked when it came
            return since + self.answer_seconds
        return self.heard_at + self.pause_seconds + self.answer_seconds


@runtime_checkable
class JobQueue(Protocol):
    """Where searches for workers go: ``with_prefetch(…, executor=…)``. Used by many threads and loops at once."""

    @property
    def configurable(self) -> Collection[str]:
        """Names under ``configurable`` whose values a job carries."""
        ...

    def takes(self, tool: str) -> bool:
        """Whether workers search with this tool."""
        ...

    async def send(self, job: Job) -> None:
        """Hand a job over; on return it is in the queue.

        Raises:
            NotDispatchedError: it is not, or nobody knows.
        """
        ...


@runtime_checkable
class ResultCache(Protocol):
    """Where results of searches are kept for other processes: ``with_prefetch(…, cache=…)``.

    A result answers under its job's id alone. It is kept for so long as its job says, counted from when its search
    began to read. Used by many threads and loops at once; nothing blocks.
    """

    @property
    def lookup_seconds(self) -> float:
        """How long one look may take before it is given up."""
        ...

    @property
    def works(self) -> bool:
        """False while it is known not to answer; searches then run in the agent's process, as without it."""
        ...

    def now(self) -> float:
        """Epoch seconds, the same on every machine that uses the cache."""
        ...

    async def begin(self, job: Job, *, here: bool = False) -> Held:
        """Note that ``job`` is under way, unless a search with its id is, or has a result.

        A caller that is told of another's pending search has joined it: that one is not given up any more by whoever
        began it (see :meth:`cancel`). The two exclude each other: of a search that was given up no caller is told.

        Args:
            job: what is wanted; only where results are shared.
            here: the caller searches itself, at once; else a worker is going to.

        Returns:
            ``ABSENT``: it was not there, and the caller's job has begun it. Else what is there.

        Raises:
            NotDispatchedError: the cache does not answer.
        """
        ...

    async def wait(self, job: Job, began: Callable[[float], None], word: Word | None = None) -> Held:
        """Wait for the end of ``job``, at most until its deadline; call ``began(seconds ago)`` once a worker has it.

        Args:
            job: what is waited for.
            began: called once, on the running loop.
            word: to be kept up to date meanwhile, by a cache that may fall silent.

        Raises:
            RemoteSearchError: the cache does not answer any more.
        """
        ...

    def keep(self, job: Job, output: Output, *, age: float, took: float) -> None:
        """Keep a result that this process has found, soon; what cannot be kept is not."""
        ...

    def cancel(self, job: Job, reason: str, *, unless_joined: bool = False) -> None:
        """Nobody wants ``job`` any more: soon, no worker begins it.

        Args:
            job: what its caller has begun or sent; may be called while :meth:`begin` still runs.
            reason: for those who look at what is kept.
            unless_joined: leave it alone if another caller of :meth:`begin` was told that it is pending; else it is
                over for all of them, since its search has ended.
        """
        ...

    def void(self, scope_id: str) -> None:
        """What was read in a scope until now may have changed: from here on no look finds it."""
        ...


def check_elsewhere(executor: object, cache: object, *, shares: bool) -> None:
    """Check that the options ``executor`` and ``cache`` are what they should be, and go together.

    Args:
        executor: a :class:`JobQueue` or None.
        cache: a :class:`ResultCache` or None.
        shares: whether results may be shared at all: there is a scope, and a time for which they may be used again.

    Raises:
        ConfigurationError: they are not, or do not; the message says what to add.
    """
    if executor is not None and not isinstance(executor, JobQueue):
        raise ConfigurationError(
            f"executor takes a queue, such as SQSExecutor(queue_url), not {type(executor).__name__}"
        )
    if cache is not None and not isinstance(cache, ResultCache):
        raise ConfigurationError(
            f"cache takes a cache of results, such as DynamoDBCache(table), not {type(cache).__name__}"
        )
    if executor is not None and cache is None:
        raise ConfigurationError(
            "an executor's workers hand their results over in a cache: add cache=DynamoDBCache(table)"
        )
    if cache is not None and executor is None and not shares:
        raise ConfigurationError(
            "a cache without an executor shares results within a scope, for a time: add scope= and reuse_seconds="
        )
