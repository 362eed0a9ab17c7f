"""What the tests of this folder are made of."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from botocore.awsrequest import AWSResponse

from langgraph_prefetch.aws import DynamoDBCache, SQSExecutor
from langgraph_prefetch.aws.connection import Connection
from langgraph_prefetch.aws.guard import Guard
from langgraph_prefetch.breaker import BreakerRule
from langgraph_prefetch.jobs import Form, Job
from langgraph_prefetch.testing.local_aws import LocalAws
from tests.aws.searching import LOG, SECONDS, lines

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0
"""Seconds that something may take which takes none: the machine may be busy with other things."""
PATIENT: dict[str, Any] = {"read_seconds": PATIENCE}
"""A local server that is slow to answer is no outage."""


def shared_job(cache: DynamoDBCache, generation: str, *, keep_seconds: float = 300.0) -> Job:
    """The same search, wanted by several processes."""
    return Job(
        id="one",
        generation=generation,
        tool="search",
        form=Form.MESSAGE,
        arguments={"query": "x"},
        deadline=cache.now() + 300,
        keep_seconds=keep_seconds,
        scope_id="here",
    )


@dataclass(frozen=True)
class Place:
    """A queue and a table of one test's own."""

    aws: LocalAws
    table: str
    queue: str
    dead: str

    def cache(self, **options: Any) -> DynamoDBCache:
        return DynamoDBCache(self.table, **self.aws.reach() | PATIENT | options)

    def executor(self, **options: Any) -> SQSExecutor:
        return SQSExecutor(self.queue, **self.aws.reach() | PATIENT | options)

    def waiting(self, queue: str) -> int:
        """Messages in a queue, the invisible ones included."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        client = self.aws.client("sqs")
        found = client.get_queue_attributes(QueueUrl=queue, AttributeNames=names)["Attributes"]
        client.close()
        return sum(map(int, found.values()))


class WorkerProcess:
    """``langgraph-prefetch worker`` in a process of its own."""

    def __init__(self, place: Place, log: Path, *options: str, retriever: str, seconds: float) -> None:
        command = [sys.executable, "-m", "langgraph_prefetch.cli", "worker"]
        command += ["--queue", place.queue, "--table", place.table, "--retriever", retriever, "--wait-seconds", "1"]
        environment = os.environ | place.aws.environment() | {LOG: str(log), SECONDS: str(seconds)}
        self.process = subprocess.Popen(
            [*command, *options],
            cwd=ROOT,
            env=environment | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines: list[str] = []
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self.process.pid

    def ready(self) -> "WorkerProcess":
        assert self._ready.wait(120), self.lines
        assert self.process.poll() is None, self.lines
        return self

    def stop(self) -> int:
        """Tell it to stop, and wait; returns its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.ended()

    def kill(self) -> None:
        self.process.kill()
        self.ended()

    def ended(self) -> int:
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as output:
            for line in output:
                self.lines.append(line.rstrip())
                if line.startswith("working"):
                    self._ready.set()
        self._ready.set()


class Faults:
    """Makes calls of a real client fail, on their way out. The emulators never throttle.

    Args:
        client: a boto3 client.
        code: the service's name of the fault.
        operations: which calls; all if empty.
        most: how many fail; None: all, until ``stop``.
    """

    def __init__(self, client: Any, code: str, *operations: str, status: int = 400, most: int | None = None) -> None:
        self.seen = 0
        self._client, self._code, self._operations = client, code, operations
        self._status, self._most = status, most
        self._event = f"before-send.{client.meta.service_model.service_id.hyphenize()}"
        client.meta.events.register(self._event, self._before_send)

    def stop(self) -> None:
        self._client.meta.events.unregister(self._event, self._before_send)

    def _before_send(self, request: Any, event_name: str, **_: Any) -> AWSResponse | None:
        if self._operations and event_name.rpartition(".")[2] not in self._operations:
            return None
        if self._most is not None and self.seen >= self._most:
            return None
        self.seen += 1
        body = json.dumps({"__type": f"com.amazonaws#{self._code}", "message": "injected"}).encode()
        headers = {"content-type": "application/x-amz-json-1.0", "x-amzn-query-error": f"{self._code};Sender"}
        return AWSResponse(request.url, self._status, headers, Raw(body))


class Raw:
    """A body as botocore reads it."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self, **_: Any) -> Any:
        yield self._body

    def read(self, *_: Any, **__: Any) -> bytes:
        body, self._body = self._body, b""
        return body


StartWorker = Callable[..., WorkerProcess]


def stays_open(connection: Connection) -> None:
    """Its breaker, once open, is not tried again: however long the test takes, the calls that failed can be counted."""
    connection.breaker = Guard(
        connection.client.meta.service_model.service_name, BreakerRule(failures=3, open_seconds=3_600.0)
    )


def until(condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait until something is so; fails if it does not become so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def searched(log: Path, query: str | None = None) -> list[int]:
    """The processes that began a search, in order."""
    return [line["pid"] for line in lines(log) if "begins" in line and query in (None, line["begins"])]
