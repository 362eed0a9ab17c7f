"""The few contracts between the machine and what it is plugged into."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import Context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from langchain_core.runnables import RunnableConfig

from langgraph_prefetch.config import ToolPolicy
from langgraph_prefetch.events import SearchCallAnswered
from langgraph_prefetch.jobs import Form, Word
from langgraph_prefetch.jobs import JobQueue as JobQueue
from langgraph_prefetch.jobs import ResultCache as ResultCache
from langgraph_prefetch.keys import Encoded
from langgraph_prefetch.passages import ListedSources, Metric, RefusedRow, SourceDone, Written
from langgraph_prefetch.passages import NeighbourhoodSource as NeighbourhoodSource
from langgraph_prefetch.values import Output

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

Clock = Callable[[], float]
"""Seconds from any fixed point, never going back."""


class Progress(Protocol):
    """Where a retrieval that runs elsewhere tells how it stands."""

    def start(self, seconds_ago: float = 0.0) -> None:
        """It began to read, so long ago."""
        ...

    def took(self, seconds: float) -> None:
        """It ended, and took so long."""
        ...

    def watch(self, word: Word) -> None:
        """Calls that wait for it do so for as long as there is word of it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One background retrieval, ready to run in the context that was captured for it.

    Exactly one of ``blocking``, ``coroutine`` and ``elsewhere`` is set. A coroutine runs on ``loop`` where given (the
    caller's: an async client belongs to the loop it was made in), else on the executor's own.

    Work that runs ``elsewhere`` is queued until it says that it has begun. A call that comes before that waits for it
    at most until it is ``grace_seconds`` old. Where it raises ``NotDispatchedError``, ``otherwise`` runs in its place.

    A coroutine that reaches its ``loop`` when it is ``wanted`` no more is not begun there.
    """

    context: Context
    blocking: Callable[[], Output] | None = None
    coroutine: Callable[[], Coroutine[Any, Any, Output]] | None = None
    loop: asyncio.AbstractEventLoop | None = None
    elsewhere: Callable[[Progress], Coroutine[Any, Any, Output]] | None = None
    grace_seconds: float = 0.0
    otherwise: Work | None = None
    wanted: Callable[[], bool] = lambda: True


@runtime_checkable
class SearchTool(Protocol):
    """A tool the user named, as the machine sees it."""

    @property
    def policy(self) -> ToolPolicy:
        """What may be done early with it."""
        ...

    @property
    def identity(self) -> Hashable:
        """Equal for two tools only if equal arguments give equal results."""
        ...

    def arguments_for(self, query: str) -> Mapping[str, Any] | None:
        """The arguments of a call that searches for ``query``; None if the schema does not allow to tell."""
        ...

    def complete(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the tool would be given for ``arguments`` as the model wrote them: defaults in, injected ones out."""
        ...

    def prepare(self, arguments: Mapping[str, Any], caller: Caller) -> Work:
        """A background run of the tool; called on the model's own thread, so contexts can be captured."""
        ...


@runtime_checkable
class HasEpoch(Protocol):
    """What a :class:`SearchTool` may be able to do besides: tell when the contents it searches have changed.

    Its outputs carry the epoch that was in force before their search began; one answers a call only if the epoch is
    still the same when the call comes.
    """

    def epoch(self, caller: Caller) -> Hashable | None:
        """Moves with every change, by whatever process, of what ``caller`` could find; None if it cannot be told."""
        ...

    async def aepoch(self, caller: Caller) -> Hashable | None:
        """As ``epoch``, without blocking the event loop."""
        ...


@runtime_checkable
class MayRunElsewhere(Protocol):
    """What a :class:`SearchTool` may be able to do besides: say what a worker on another machine would need to know."""

    @property
    def form(self) -> Form:
        """What of the search is its output."""
        ...

    def reads_beyond(self, configurable: Collection[str]) -> str | None:
        """What else it reads than its arguments, the scope and these ``configurable`` values; None if nothing shows."""
        ...


@runtime_checkable
class Caller(Protocol):
    """Who is asking: what of the run's configuration a tool could read."""

    @property
    def configurable(self) -> Mapping[str, Any]:
        """The user's own keys, the host's left out."""
        ...

    @property
    def context(self) -> Any:
        """The graph's runtime context, or None."""
        ...

    def key(self, ignore: tuple[str, ...]) -> Encoded:
        """Equal for two callers only if no tool could tell them apart; ``ignore`` names keys left out."""
        ...


@runtime_checkable
class PassageWriter(Protocol):
    """Where ingested passages go. Of several writers each is used by one thread at a time; any may get any batch.

    A batch has the columns ``id`` (string, the key), ``source`` (string, the document it came from), ``text`` (string),
    ``metadata`` (string, a JSON object), ``content_hash`` (fixed-size binary, 16 bytes) and ``embedding``
    (fixed-size list of float32). Ids are unique in a batch.
    """

    @property
    def dimensions(self) -> int:
        """The length of the vectors it takes."""
        ...

    def sift(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, tuple[RefusedRow, ...]]:
        """The rows that can be written, and those that cannot, with the reasons. Nothing is sent.

        A batch without fault is handed back as it is. Of rows with one id the first is kept.
        """
        ...

    def write(self, batch: pa.RecordBatch) -> Written:
        """Insert or update the rows by ``id``: all of the batch, or none of it and an error that names bad rows.

        The rows are as safe as the ledger's ``finish`` makes them: a writer may return before they are on disk.
        """
        ...


@runtime_checkable
class SourceLedger(Protocol):
    """Which documents of one tenant and collection have been ingested completely, in which state.

    Skips what has not changed and lets deletes follow. Writing a row of a document through a ``PassageWriter`` takes
    the document's fingerprint away in the same transaction, until ``finish`` gives it a new one: after a crash at any
    point a document that was cut off is one without a fingerprint.
    """

    def fingerprints(self, sources: Collection[str] | None = None) -> Mapping[str, bytes]:
        """The fingerprints of completely ingested documents, in one round trip.

        Args:
            sources: ask only for these, which bounds the answer: for a large corpus, one block of it at a time.
        """
        ...

    def finish(self, done: Sequence[SourceDone], *, prune: bool) -> int:
        """Remember the fingerprints, in one transaction; call it when all writers have written these documents' rows.

        On return everything that was written before the call is on disk.

        Args:
            done: each document once; may be empty.
            prune: also delete the documents' rows that are not among their ``ids``.

        Returns:
            How many rows were deleted.
        """
        ...

    def keep_only(self, sources: Collection[str]) -> int:
        """Delete the rows and fingerprints of all other documents; returns how many rows went."""
        ...


@runtime_checkable
class ListsSources(Protocol):
    """What a :class:`SourceLedger` may be able to do besides: tell of many documents in one piece, unasked for each."""

    def listed(self, first: str, last: str, most: int) -> ListedSources | None:
        """The completely ingested documents from ``first`` to ``last``, both included, by code points.

        None where there are more than ``most``, or one of their fingerprints has not 16 bytes; then ask for each.
        """
        ...


@runtime_checkable
class PassageStore(Protocol):
    """What passages are ingested into: one tenant and collection of a store."""

    @property
    def dimensions(self) -> int:
        """The length of its vectors."""
        ...

    @property
    def metric(self) -> Metric:
        """What "nearest" means there; under "cosine" a vector of zeros has no direction and is refused."""
        ...

    def writer(self) -> AbstractContextManager[PassageWriter]:
        """A writer with a connection of its own, given back at the end of the ``with``; several may be open."""
        ...

    def ledger(self) -> SourceLedger:
        """Which documents are there already; used by one thread at a time."""
        ...


@runtime_checkable
class MatrixEmbedder(Protocol):
    """An embedder that gives vectors as one array; any LangChain ``Embeddings`` will do as well, only slower."""

    @property
    def identity(self) -> str:
        """Equal for two embedders only if they give every text the same vector."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of its vectors."""
        ...

    def embed_matrix(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of texts, shape ``(len(texts), dimensions)``, C-contiguous; used by several threads at once."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredCall:
    """One call of a service's agent, as it was answered. Times are seconds.

    Attributes:
        content: what the tool gave: of a tool the content of its message, of a retriever its documents.
        artifact: the artifact of a tool's message.
        answered: how; None where no prefetch could have answered it.
        lookup_seconds: from the call to a prefetched answer, or to knowing that there is none.
        seconds: of the whole call.
    """

    content: Any
    artifact: Any = None
    answered: SearchCallAnswered | None = None
    lookup_seconds: float = 0.0
    seconds: float = 0.0


class ServiceTurn(Protocol):
    """One turn of a service's agent, as a prefetcher hears it. Nothing but the tools themselves raises here."""

    def think(self, step: Hashable, text: str) -> None:
        """In one step of its own the agent has thought this; what that makes likely is started."""
        ...

    def will_call(self, step: Hashable, position: int, tool: str, arguments: Mapping[str, Any]) -> None:
        """The agent has decided on this call, and will ask for it."""
        ...

    def end_step(self, step: Hashable) -> None:
        """The step is over."""
        ...

    def service_ran(self, tool: str) -> None:
        """The service itself ran something that may have changed what searches find."""
        ...

    def call(self, tool: str, arguments: Mapping[str, Any], call_id: str, batch: Hashable) -> AnsweredCall:
        """Answer one call; those of one ``batch`` run side by side. Raises what the tool raises."""
        ...

    async def acall(self, tool: str, arguments: Mapping[str, Any], call_id: str, batch: Hashable) -> AnsweredCall:
        """:meth:`call` on the event loop."""
        ...

    def close(self) -> None:
        """The turn is over. Idempotent."""
        ...


@runtime_checkable
class ServiceAgent(Protocol):
    """An agent that a service runs, with the tools it leaves to the caller: ``prefetcher.service_agent(…)``."""

    @property
    def tools(self) -> Collection[str]:
        """The names by which the service calls them."""
        ...

    def open(
        self,
        question: str,
        configurable: Mapping[str, Any],
        config: RunnableConfig | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> ServiceTurn:
        """Begin a turn.

        Args:
            question: the user's words, which are never taken for what the agent thinks.
            configurable: trusted configuration, told to the tools and part of what a result depends on.
            config: of the caller.
            loop: the event loop that async tools run on.
        """
        ...

    def say_once(self, key: str, message: str) -> None:
        """Log a line, the first time that ``key`` is given."""
        ...
