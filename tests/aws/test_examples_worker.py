"""The worker's image, read as text and by its own linter; and the tool in it, searched by a real worker."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest
from langchain_core.documents import Document

from langgraph_prefetch.ingest import ingest_sync
from langgraph_prefetch.jobs import HeldState
from langgraph_prefetch.retrieval import PgVectorStore
from langgraph_prefetch.retrieval.embedders import HashingEmbeddings
from langgraph_prefetch.testing.local_workers import LocalWorker
from tests.aws.parts import ROOT, Place
from tests.aws.templates import EXAMPLES, resources
from tests.aws.test_worker import Sender
from tests.postgres import database_url, postgres_server

__all__ = ["database_url", "postgres_server"]

DOCKERFILE = EXAMPLES / "worker" / "Dockerfile"
LINES = DOCKERFILE.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()


def instructions(name: str) -> list[str]:
    return [line.split(maxsplit=1)[1].strip() for line in LINES if line.startswith(f"{name} ")]


def test_the_linter_finds_nothing() -> None:
    """hadolint, every rule of it."""
    linter = Path(sys.executable).with_name("hadolint")
    run = subprocess.run([str(linter), str(DOCKERFILE)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_image_is_small_and_nobody_is_root_in_it() -> None:
    """Two stages, of which the last has an environment and no tools to build one; a numbered user; no shell form."""
    assert len(instructions("FROM")) == 2
    last = LINES[max(place for place, line in enumerate(LINES) if line.startswith("FROM ")) :]
    assert not any("pip" in line for line in last)
    assert instructions("USER") == ["10001:10001"]
    assert instructions("ENTRYPOINT") == ['["langgraph-prefetch", "worker"]']
    assert instructions("STOPSIGNAL") == ["SIGTERM"]


def test_no_secret_is_in_the_image() -> None:
    """Nothing of an account is an argument, a variable or a file of it; what is copied is named, and exists."""
    assert instructions("ARG") == []
    assert not re.search(r"(?i)secret|password|token|access_key|database_url", "\n".join(instructions("ENV")))
    ignored = (DOCKERFILE.parent / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    allowed = [line.removeprefix("!") for line in ignored if line.startswith("!")]
    assert "*" in ignored
    for copied in instructions("COPY"):
        if copied.startswith("--from"):
            continue
        for source in copied.split()[:-1]:
            assert (ROOT / source).exists(), source
            assert any(source == each or source.startswith(f"{each}/") for each in allowed), source


def test_the_image_and_the_task_agree() -> None:
    """User and health check are the same, and the container gets more time to stop than its searches."""
    (task,) = resources("prefetch.yaml", "AWS::ECS::TaskDefinition").values()
    (container,) = task["ContainerDefinitions"]
    (check,) = (line for line in LINES if "urlopen" in line)
    assert container["HealthCheck"]["Command"][-1] in check
    assert container["User"] in instructions("USER")
    words = container["Command"]
    assert container["StopTimeout"] > int(words[words.index("--drain-seconds") + 1])
    assert words[words.index("--health-port") + 1] == "8080"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_tool_of_the_image_searches(place: Place, database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker started as the container starts it, but for the addresses, answers from the database."""
    with PgVectorStore(HashingEmbeddings(), url=database_url, collection="passages") as store:
        texts = ("The Humber Bridge has a main span of 1,410 metres.", "The Forth Bridge opened in 1890.")
        ingest_sync([Document(text, metadata={"source": text}) for text in texts], None, store.embeddings, store)
    monkeypatch.setenv("DATABASE_URL", database_url)
    sender = Sender(place)
    tool, environment = "examples.aws.worker.search_tool:search", place.aws.environment()
    with LocalWorker(place.queue, place.table, tool, environment=environment, folder=ROOT) as worker:
        worker.ready()
        job = sender.job("Humber Bridge span")
        sender.send(job)
        held = asyncio.run(sender.ended(job))
    assert held.state is HeldState.READY, worker.lines
    output = held.output
    assert output is not None
    assert "1,410 metres" in str(output.content).splitlines()[0]
    assert worker.stop() == 0, worker.lines
