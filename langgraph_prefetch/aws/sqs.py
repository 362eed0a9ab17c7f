"""Searches for workers, through an SQS queue."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from langgraph_prefetch.aws.batches import Batches
from langgraph_prefetch.aws.connection import Connection
from langgraph_prefetch.aws.faults import BotoCoreError, ClientError, told
from langgraph_prefetch.aws.messages import ATTRIBUTES, body_of
from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.errors import (
    ConfigurationError,
    NotDispatchedError,
    QueueUnusableError,
    UnportableError,
)
from langgraph_prefetch.jobs import Job

READ_SECONDS = 1.0
BATCHES_AT_ONCE = 2
"""A queue that is slow to answer gets fuller batches; a second one, so that none waits for a call that hangs."""


class SQSExecutor:
    """Sends searches to workers: ``with_prefetch(agent, tools=[…], executor=SQSExecutor(url), cache=…)``.

    A message is typed JSON and carries the search's deadline; late work is dropped. Messages of one moment go
    together. Nothing here blocks an event loop or raises into an agent: what cannot be sent is searched in the agent's
    own process, and while the queue is known not to work nothing is tried.

    Args:
        queue_url: of a standard or a FIFO queue.
        tools: names of the tools that workers have; None: all that are prefetched.
        configurable: names under the run's ``configurable`` whose values (JSON) go with each search: your word that
            besides its arguments and the scope they are all that a worker's search depends on.
        session: a ``boto3.Session``; None: the environment's.
        region_name: None: the session's.
        endpoint_url: where SQS is, if not where AWS has it.
        batch_seconds: how long a message waits for others to go with.
        connections: calls at once.
        read_seconds: how long one call waits for the network; then the search runs here.

    Raises:
        ConfigurationError: a value out of its range, or no region is known.
        MissingExtraError: on import, without the extra ``aws``.
    """

    def __init__(
        self,
        queue_url: str,
        *,
        tools: Collection[str] | None = None,
        configurable: Collection[str] = (),
        session: Any = None,
        region_name: str | None = None,
        endpoint_url: str | None = None,
        batch_seconds: float = 0.002,
        connections: int = 8,
        read_seconds: float = READ_SECONDS,
    ) -> None:
        if not isinstance(queue_url, str) or not queue_url.startswith(("http://", "https://")):
            raise ConfigurationError(f"queue_url takes the URL of an SQS queue, https://…, not {queue_url!r}")
        for name, value in (("tools", tools), ("configurable", configurable)):
            if isinstance(value, str):
                raise ConfigurationError(f"{name} takes a tuple of names, not one string: ({value!r},)")
        require_at_least("batch_seconds", batch_seconds, 0)
        require_at_least("connections", connections, 1)
        require_at_least("read_seconds", read_seconds, 0.001)
        self.queue_url = queue_url
        self._tools = None if tools is None else frozenset(tools)
        self._configurable = tuple(configurable)
        self._fifo = queue_url.endswith(".fifo")
        self._connection = Connection(
            "sqs",
            session=session,
            region_name=region_name,
            endpoint_url=endpoint_url,
            connections=connections,
            read_seconds=read_seconds,
        )
        self._batches: Batches[tuple[str, str], None] = Batches(
            self._send, self._connection.threads, batch_seconds, at_once=BATCHES_AT_ONCE
        )

    @property
    def configurable(self) -> Collection[str]:
        """Names under ``configurable`` whose values go with each search."""
        return self._configurable

    @property
    def connection(self) -> Connection:
        """Client, threads and breaker."""
        return self._connection

    def takes(self, tool: str) -> bool:
        """Whether workers search with this tool."""
        return self._tools is None or tool in self._tools

    async def send(self, job: Job) -> None:
        """Put a job into the queue.

        Raises:
            NotDispatchedError: it is not there, or nobody knows.
        """
        try:
            if self._connection.breaker.is_open:
                raise NotDispatchedError("the queue does not work")
            body = body_of(job)
            await self._batches.put((body, job.generation), len(body.encode()))
        except (NotDispatchedError, UnportableError) as error:
            self._connection.count("not_sent")
            raise NotDispatchedError(str(error)) from error
        self._connection.count("sent")

    def counts(self) -> dict[str, int]:
        """Searches that were ``sent``, that were ``not_sent`` and so ran here, and ``failed_calls`` of the queue."""
        return self._connection.counts(("sent", "not_sent"))

    def check(self) -> None:
        """Ask whether the queue is there.

        Raises:
            CredentialsError, QueueUnusableError: the message says what to do.
        """
        try:
            self._connection.client.get_queue_attributes(QueueUrl=self.queue_url, AttributeNames=["QueueArn"])
        except (ClientError, BotoCoreError) as error:
            absent = "Check the URL of the queue and the region"
            where = self._connection.where
            raise told(error, f"queue {self.queue_url}", QueueUnusableError, absent, where) from error

    def close(self) -> None:
        """Let threads and sockets go. Idempotent; another search opens them again."""
        self._connection.close()

    def _send(self, messages: Sequence[tuple[str, str]]) -> list[Exception | None]:
        """One batch, on a thread: body and name of each, and of each whether the queue has it."""
        entries = [self._entry(str(number), *message) for number, message in enumerate(messages)]
        try:
            response = self._connection.call("send_message_batch", QueueUrl=self.queue_url, Entries=entries)
        except Exception as error:  # whatever the queue's client raises, the searches run here
            raise NotDispatchedError(f"the queue did not take it ({type(error).__name__})") from error
        sent = {each["Id"] for each in response.get("Successful", ())}
        return [None if each["Id"] in sent else NotDispatchedError("the queue refused it") for each in entries]

    def _entry(self, number: str, body: str, name: str) -> dict[str, Any]:
        message = {"Id": number, "MessageBody": body, "MessageAttributes": ATTRIBUTES}
        if self._fifo:
            message |= {"MessageGroupId": name, "MessageDeduplicationId": name}
        return message
