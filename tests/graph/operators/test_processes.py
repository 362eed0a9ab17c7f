"""A write to memory in one process makes what every other has under way answer nothing."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.postgres import PostgresStore

from langgraph_prefetch.graph.operators.epochs import EpochStore
from tests.graph.operators.recalling import Searched, recall

ROOT = Path(__file__).parents[3]
ADA = ("memories", "ada")


@contextmanager
def another_process(url: str) -> Iterator[Callable[[], Callable[[], Any]]]:
    """Waits until the other's next search has been read early; then: lets it make the real call, and what that gave."""
    command = [sys.executable, "-m", "tests.graph.operators.recalling", url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as other:
        said, told = other.stdin, other.stdout
        assert said is not None
        assert told is not None

        def go() -> Any:
            print("go", file=said, flush=True)
            return json.loads(told.readline())

        def ready() -> Callable[[], Any]:
            assert told.readline() == "ready\n"
            return go

        try:
            yield ready
        finally:
            other.kill()


@pytest.mark.slow
def test_two_processes(database_url: str) -> None:
    """This process and another have read a user's memory early: both are served, or, after a write, neither."""
    url = database_url.replace("+psycopg", "")
    with PostgresStore.from_conn_string(url) as inner, PostgresStore.from_conn_string(url) as writing:
        inner.setup()
        writer = EpochStore(writing)
        writer.put(ADA, "drink", {"text": "likes tea"})
        with another_process(url) as ready:
            go = ready()
            unwritten = [recall(Searched(inner), lambda: None), go()]
            go = ready()
            written = [recall(Searched(inner), lambda: writer.put(ADA, "food", {"text": "cake"})), go()]
    assert [each["served"] for each in unwritten] == [1, 1]
    assert [each["served"] for each in written] == [0, 0]
    assert ["cake" in each["found"] for each in (*unwritten, *written)] == [False, False, True, True]
