"""A real SQS and DynamoDB wire on loopback, and workers as real processes."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from langgraph_prefetch.testing.local_aws import LocalAws, local_aws
from tests.aws.parts import ROOT, Place, StartWorker, WorkerProcess
from tests.aws.searching import LOG

REQUIRED = "LANGGRAPH_PREFETCH_TEST_AWS"
"""Environment: ``required``: where the servers cannot be installed the tests fail; else they are skipped."""


@pytest.fixture(scope="session")
def aws() -> Iterator[LocalAws]:
    """One server for all tests; each has its own queue and table."""
    with local_aws(installed("ministack")) as local:
        yield local


@pytest.fixture(scope="session")
def second_opinion() -> Iterator[LocalAws]:
    """Another implementation of the same protocols."""
    with local_aws(installed("moto")) as local:
        yield local


def installed(name: str) -> str:
    command = [str(ROOT / "scripts/aws-server.sh"), name]
    made = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    if made.returncode:
        if os.environ.get(REQUIRED) == "required":
            pytest.fail(f"{name} cannot be installed: {made.stderr}")
        pytest.skip(f"{name} is not installed, and cannot be from here")
    return made.stdout.strip()


@pytest.fixture
def make_place(aws: LocalAws) -> Callable[..., Place]:
    def make(**queue: Any) -> Place:
        url, dead = aws.make_queue(**queue)
        return Place(aws, aws.make_table(), url, dead)

    return make


@pytest.fixture
def place(make_place: Callable[..., Place]) -> Place:
    return make_place()


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the searches of this test, in whatever process, leave their lines."""
    path = tmp_path / "searches.jsonl"
    monkeypatch.setenv(LOG, str(path))
    return path


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
