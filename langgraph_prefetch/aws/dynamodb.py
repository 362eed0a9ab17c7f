"""Results for other processes, in a DynamoDB table."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from langgraph_prefetch.aws.beginnings import Beginnings
from langgraph_prefetch.aws.bodies import Bodies
from langgraph_prefetch.aws.connection import Connection
from langgraph_prefetch.aws.items import MOST_KEEP_SECONDS
from langgraph_prefetch.aws.outputs import pack
from langgraph_prefetch.aws.polling import Polling
from langgraph_prefetch.aws.table import Table
from langgraph_prefetch.aws.voids import Voids
from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.errors import ConfigurationError, NotDispatchedError
from langgraph_prefetch.jobs import Held, HeldState, Job, Word
from langgraph_prefetch.values import Output

READ_SECONDS = 1.0
S3_READ_SECONDS = 5.0
MOST_RESULT_BYTES = 4 * 1024 * 1024

logger = logging.getLogger("langgraph_prefetch")


class DynamoDBCache:
    """Keeps results in a table: ``with_prefetch(agent, tools=[…], executor=…, cache=DynamoDBCache(table))``.

    The cache of the agent's process stays in front of it. Without an executor it shares results between processes,
    within a scope. Every look has a deadline of its own; while the table is known not to work nothing is asked, and
    the agent goes on as without it.

    Args:
        table: the name of a table with the partition key ``pk`` of type S, and ``expires_at`` as its TTL attribute.
        namespace: before every key: agents whose tools of one name are not the same tool need different ones.
        session: a ``boto3.Session``; None: the environment's.
        region_name: None: the session's.
        endpoint_url: where DynamoDB is, if not where AWS has it.
        bucket: an S3 bucket for results over 380 KB; None: they are split over several items.
        s3_endpoint_url: where S3 is, if not where AWS has it.
        lookup_seconds: how long one look may take; None: from how quick the table has answered, 30 to 100 ms.
        poll_seconds: the shortest pause between two looks for a result under way; None: twice what a look takes.
        most_result_bytes: larger results are not kept.
        connections: calls at once.
        read_seconds: how long one call waits for the network. A worker, which nobody waits for, may have more patience.

    Raises:
        ConfigurationError: a value out of its range, or no region is known.
        MissingExtraError: on import, without the extra ``aws``.
    """

    def __init__(
        self,
        table: str,
        *,
        namespace: str = "default",
        session: Any = None,
        region_name: str | None = None,
        endpoint_url: str | None = None,
        bucket: str | None = None,
        s3_endpoint_url: str | None = None,
        lookup_seconds: float | None = None,
        poll_seconds: float | None = None,
        most_result_bytes: int = MOST_RESULT_BYTES,
        connections: int = 16,
        read_seconds: float = READ_SECONDS,
    ) -> None:
        for name, value in (("table", table), ("namespace", namespace)):
            if not isinstance(value, str) or not value or "#" in value:
                raise ConfigurationError(f"{name} takes a name without '#', not {value!r}")
        for name, seconds in (("lookup_seconds", lookup_seconds), ("poll_seconds", poll_seconds)):
            if seconds is not None:
                require_at_least(name, seconds, 0.001)
        require_at_least("connections", connections, 1)
        require_at_least("most_result_bytes", most_result_bytes, 1)
        require_at_least("read_seconds", read_seconds, 0.001)
        self._lookup_seconds, self._most = lookup_seconds, most_result_bytes
        reach = {"session": session, "region_name": region_name, "connections": connections}
        self._connection = Connection("dynamodb", endpoint_url=endpoint_url, read_seconds=read_seconds, **reach)
        s3 = None
        if bucket is not None:
            s3 = Connection("s3", endpoint_url=s3_endpoint_url, read_seconds=S3_READ_SECONDS, **reach)
        self._s3 = s3
        bodies = Bodies(table, namespace, self._connection, bucket, s3, most_result_bytes)
        self.table = Table(table, namespace, self._connection, bodies)
        latency = self._connection.latency
        self._polling = Polling(
            lambda ids: self.table.look(ids, self.now()),
            self.table.with_output,
            latency,
            self.now,
            poll_seconds,
            lambda: self.lookup_seconds,
            self._connection.threads,
        )
        self._beginnings = Beginnings(self._connection.threads)
        self._voids = Voids(
            lambda scope_id: self.table.void(scope_id, self.now()), self._connection.threads, MOST_KEEP_SECONDS
        )

    @property
    def connection(self) -> Connection:
        """Client, threads, breaker and clock."""
        return self._connection

    @property
    def lookup_seconds(self) -> float:
        """How long one look may take."""
        return self._connection.latency.lookup_seconds if self._lookup_seconds is None else self._lookup_seconds

    @property
    def works(self) -> bool:
        """False while it is known not to answer."""
        return not self._connection.breaker.is_open

    def now(self) -> float:
        """Epoch seconds as the table's service has them."""
        return self._connection.time()

    async def begin(self, job: Job, *, here: bool = False) -> Held:
        """Note that ``job`` is under way, unless a search with its id is, or has a result.

        Raises:
            NotDispatchedError: the table does not answer, or what it holds cannot be read.
        """
        if not await self._voids.settled(job.scope_id or ""):
            raise NotDispatchedError("what was written in the scope is not marked yet")
        try:
            held = await self._beginnings.run(job.generation, lambda: self.table.begin(job, self.now(), here=here))
        except Exception as error:  # a failure of the table is a miss
            raise NotDispatchedError(f"the table gave nothing ({type(error).__name__})") from error
        self._connection.count({HeldState.ABSENT: "begun", HeldState.READY: "found"}.get(held.state, "joined"))
        return held

    async def wait(self, job: Job, began: Callable[[float], None], word: Word | None = None) -> Held:
        """Wait for the end of ``job``, at most until its deadline.

        Raises:
            RemoteSearchError: the table does not answer any more, or the deadline passed.
        """
        held = await self._polling.wait(job, began, Word() if word is None else word)
        self._connection.count("received" if held.state is HeldState.READY else "failed")
        return held

    def keep(self, job: Job, output: Output, *, age: float, took: float) -> None:
        """Keep a result that this process has found, soon."""
        began = self.now() - age

        def write() -> None:
            self.table.finish(job, None, pack(output, self._most), began=began, took=took)

        self._soon("a result was not kept", write)

    def cancel(self, job: Job, reason: str, *, unless_joined: bool = False) -> None:
        """Nobody wants ``job`` any more: soon, no worker begins it. ``unless_joined``: only if nobody else waits."""

        def call_off() -> None:
            self.table.cancel(job, reason, unless_joined=unless_joined)

        self._beginnings.after(job.generation, lambda: self._soon("a search was not called off", call_off))

    def void(self, scope_id: str) -> None:
        """What was read in a scope until now may have changed: from here on no look finds it."""
        self._voids.void(scope_id)

    def counts(self) -> dict[str, int]:
        """What came of looks and waits.

        Where results are shared: searches ``begun``, results ``found`` ready, searches of others ``joined``. Of those
        on workers: results ``received``, and searches that ``failed`` or were given up. ``failed_calls`` of the table.
        """
        return self._connection.counts(("begun", "found", "joined", "received", "failed"))

    def check(self) -> None:
        """Ask whether the table is there and has the right key; warn if its TTL is off.

        Raises:
            CredentialsError, TableUnusableError: the message says what to do.
        """
        if not self.table.check():
            logger.warning("table %r does not delete expired items: turn its TTL on (expires_at)", self.table.name)

    def close(self) -> None:
        """Let threads and sockets go. Idempotent; another search opens them again."""
        self._connection.close()
        if self._s3 is not None:
            self._s3.close()

    def _soon(self, trouble: str, call: Callable[[], None]) -> None:
        def told(done: Future[None]) -> None:
            error = None if done.cancelled() else done.exception()
            if error is not None:
                logger.debug("%s: %s", trouble, type(error).__name__)

        try:
            self._connection.threads.submit(call).add_done_callback(told)
        except RuntimeError:
            logger.debug("%s: too much is under way", trouble)
