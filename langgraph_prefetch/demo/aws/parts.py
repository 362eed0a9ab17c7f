"""Everything the demo needs on this machine, started and ended by it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from langchain_core.documents import Document

from langgraph_prefetch.aws import DynamoDBCache, SQSExecutor
from langgraph_prefetch.demo.aws import bedrock
from langgraph_prefetch.demo.aws.searching import DATABASE, LATENCY, RETRIEVER
from langgraph_prefetch.demo.filling import filled_store
from langgraph_prefetch.demo.questions import Question
from langgraph_prefetch.demo.server import postgres
from langgraph_prefetch.demo.settings import DemoSettings
from langgraph_prefetch.errors import DemoError
from langgraph_prefetch.retrieval import PgVectorStore
from langgraph_prefetch.testing.local_aws import LocalAws, local_aws
from langgraph_prefetch.testing.local_workers import LocalWorker
from langgraph_prefetch.testing.wire import LocalBedrock

WORKERS = 2
NAMESPACE = "demo"
SETTLING_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What runs.

    Attributes:
        store: searched by the bare agent here, and by workers in their processes.
        aws: queue and table.
        queue: the URL of the queue. ``dead``: of its dead-letter queue.
        table: its name.
        workers: their processes.
        bedrock: the model's server.
    """

    store: PgVectorStore
    aws: LocalAws
    queue: str
    dead: str
    table: str
    workers: Sequence[LocalWorker]
    bedrock: LocalBedrock

    def executor(self) -> SQSExecutor:
        """As an agent's process makes it, but for the address and the keys."""
        return SQSExecutor(self.queue, **self.aws.reach())

    def cache(self) -> DynamoDBCache:
        """The same."""
        return DynamoDBCache(self.table, namespace=NAMESPACE, **self.aws.reach())

    def messages_left(self) -> int:
        """In both queues, whoever holds them, once workers have had time to see that nobody waits for the last ones."""
        until = time.monotonic() + SETTLING_SECONDS
        while (left := self._messages()) and time.monotonic() < until:
            time.sleep(0.2)
        return left

    def _messages(self) -> int:
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        client = self.aws.client("sqs")
        left = 0
        for url in (self.queue, self.dead):
            found = client.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
            left += sum(map(int, found.values()))
        client.close()
        return left


@contextmanager
def parts(
    program: Path, questions: Sequence[Question], corpus: Sequence[Document], settings: DemoSettings
) -> Iterator[Parts]:
    """Start all of it; it is gone afterwards, however the block is left.

    Raises:
        DemoError: the local queue or a worker does not start.
        EmbeddedServerError: the database does not.
    """
    with ExitStack() as stack:
        database = stack.enter_context(postgres(durable=False))
        store = stack.enter_context(filled_store(database.url, corpus))
        try:
            aws = stack.enter_context(local_aws(program))
            queue, dead = aws.make_queue()
            table = aws.make_table()
            environment = {
                **aws.environment(),
                DATABASE: database.url,
                LATENCY: str(settings.latency_seconds),
            }
            options = ("--namespace", NAMESPACE, "--wait-seconds", "2", "--drain-seconds", "5")
            workers = []
            for _ in range(WORKERS):
                worker = LocalWorker(queue, table, RETRIEVER, environment=environment, options=options)
                workers.append(stack.enter_context(worker))
            for worker in workers:
                worker.ready()
        except (OSError, RuntimeError) as error:
            raise DemoError(str(error)) from error
        served = stack.enter_context(bedrock.server(questions, settings.tokens_per_second))
        yield Parts(store=store, aws=aws, queue=queue, dead=dead, table=table, workers=workers, bedrock=served)
