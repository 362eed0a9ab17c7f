"""Servers, queue, table and workers of one part of the benchmark, all on loopback, and what they take."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from langgraph_prefetch.aws import DynamoDBCache, SQSExecutor
from langgraph_prefetch.testing.local_aws import LocalAws, local_aws
from langgraph_prefetch.testing.local_workers import LocalWorker

ROOT = Path(__file__).parents[2]
NAMESPACE = "benchmark"
DELETED_SECONDS = 15.0
"""Time to delete what was answered, that of a killed worker included, which comes back when its hold ends."""


@dataclass(frozen=True)
class Place:
    """A queue on one server and a table on another: each can be away without the other.

    Attributes:
        queues, tables: the servers.
        queue: the URL of the queue. ``dead``: of what no worker could read.
        table: its name.
    """

    queues: LocalAws
    tables: LocalAws
    queue: str
    dead: str
    table: str

    def executor(self, **options: Any) -> SQSExecutor:
        """A new one."""
        return SQSExecutor(self.queue, **{**self.queues.reach(), **options})

    def cache(self, **options: Any) -> DynamoDBCache:
        """A new one."""
        return DynamoDBCache(self.table, **{"namespace": NAMESPACE, **self.tables.reach(), **options})

    def environment(self) -> dict[str, str]:
        """Of a worker."""
        found = self.tables.environment()
        url = found.pop("AWS_ENDPOINT_URL")
        return {
            **found,
            "AWS_ENDPOINT_URL_SQS": self.queues.url,
            "AWS_ENDPOINT_URL_DYNAMODB": url,
            "PYTHONPATH": str(ROOT),
        }

    def worker(self, retriever: str, *options: str, environment: Mapping[str, str] | None = None) -> LocalWorker:
        """A new process; whoever asks stops it."""
        words = ("--namespace", NAMESPACE, "--wait-seconds", "1", *options)
        return LocalWorker(
            self.queue,
            self.table,
            retriever,
            environment={**self.environment(), **(environment or {})},
            options=words,
            folder=ROOT,
        )

    def waiting(self, queue: str) -> int:
        """Messages in a queue of this place, those included that somebody holds."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        client = self.queues.client("sqs")
        found = client.get_queue_attributes(QueueUrl=queue, AttributeNames=names)["Attributes"]
        client.close()
        return sum(map(int, found.values()))

    def left(self) -> tuple[int, int]:
        """Messages that stay in the queue, once workers had time to delete what they have answered; and dead ones."""
        ends = time.monotonic() + DELETED_SECONDS
        while (found := self.waiting(self.queue)) and time.monotonic() < ends:
            time.sleep(0.1)
        return found, self.waiting(self.dead)


@cache
def server_program() -> str:
    """The local server, installed into an environment of its own the first time."""
    command = [str(ROOT / "scripts/aws-server.sh"), "ministack"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@contextmanager
def place(*, visibility_seconds: int = 30) -> Iterator[Place]:
    """Two servers, gone afterwards."""
    with ExitStack() as stack:
        queues, tables = (stack.enter_context(local_aws(server_program())) for _ in range(2))
        queue, dead = queues.make_queue(visibility_seconds=visibility_seconds, most_receives=10)
        yield Place(queues, tables, queue, dead, tables.make_table())
