"""A real SQS and DynamoDB wire on loopback, and workers as real processes."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from langgraph_prefetch.aws import DynamoDBCache, SQSExecutor
from langgraph_prefetch.testing.local_aws import LocalAws, local_aws
from tests.aws.searching import LOG, SECONDS, lines

ROOT = Path(__file__).parents[2]
PROGRAM, REQUIRED = "LANGGRAPH_PREFETCH_MINISTACK", "LANGGRAPH_PREFETCH_TEST_AWS"
"""Environment: the program of a ministack that is installed; ``required``: without one the tests fail."""


@pytest.fixture(scope="session")
def aws() -> Iterator[LocalAws]:
    """One server for all tests; each has its own queue and table."""
    program = os.environ.get(PROGRAM) or _installed()
    with local_aws(program) as local:
        yield local


def _installed() -> str:
    made = subprocess.run([ROOT / "scripts/ministack.sh"], capture_output=True, text=True, check=False, timeout=300)
    if made.returncode:
        if os.environ.get(REQUIRED) == "required":
            pytest.fail(f"ministack cannot be installed: {made.stderr}")
        pytest.skip("ministack is not installed, and cannot be from here")
    return made.stdout.strip()


@dataclass(frozen=True)
class Place:
    """A queue and a table of one test's own."""

    aws: LocalAws
    table: str
    queue: str
    dead: str

    def cache(self, **options: Any) -> DynamoDBCache:
        return DynamoDBCache(self.table, **self.aws.reach() | options)

    def executor(self, **options: Any) -> SQSExecutor:
        return SQSExecutor(self.queue, **self.aws.reach() | options)

    def waiting(self, queue: str) -> int:
        """Messages in a queue, the invisible ones included."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        client = self.aws.client("sqs")
        found = client.get_queue_attributes(QueueUrl=queue, AttributeNames=names)["Attributes"]
        client.close()
        return sum(map(int, found.values()))


@pytest.fixture
def make_place(aws: LocalAws) -> Callable[..., Place]:
    def make(**queue: Any) -> Place:
        url, dead = aws.make_queue(**queue)
        return Place(aws, aws.make_table(), url, dead)

    return make


@pytest.fixture
def place(make_place: Callable[..., Place]) -> Place:
    return make_place()


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
        assert self._ready.wait(30), self.lines
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
        code = self.process.wait(40)
        self._reader.join(5)
        return code

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as output:
            for line in output:
                self.lines.append(line.rstrip())
                if line.startswith("working"):
                    self._ready.set()
        self._ready.set()


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the searches of this test, in whatever process, leave their lines."""
    path = tmp_path / "searches.jsonl"
    monkeypatch.setenv(LOG, str(path))
    return path


StartWorker = Callable[..., WorkerProcess]


@pytest.fixture
def start_worker(log: Path) -> Iterator[StartWorker]:
    started: list[WorkerProcess] = []

    def start(
        place: Place, *options: str, retriever: str = "tests.aws.searching:every", seconds: float = 0.0
    ) -> WorkerProcess:
        worker = WorkerProcess(place, log, *options, retriever=retriever, seconds=seconds)
        started.append(worker)
        return worker

    yield start
    for worker in started:
        if worker.process.poll() is None:
            worker.kill()


def until(condition: Callable[[], object], seconds: float = 20.0) -> None:
    """Wait until something is so; fails if it does not become so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def searched(log: Path, query: str | None = None) -> list[int]:
    """The processes that began a search, in order."""
    return [line["pid"] for line in lines(log) if "begins" in line and query in (None, line["begins"])]
