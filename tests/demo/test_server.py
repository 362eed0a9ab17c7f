"""The demo's server is the embedded one: it says in a line why it does not start, and never outlives the demo."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest

from langgraph_prefetch.demo import server
from langgraph_prefetch.demo.server import postgres
from langgraph_prefetch.errors import DemoError, EmbeddedServerError


class Embedded:
    """Stands for the embedded room: starts nothing, and notes that it was left."""

    def __init__(self) -> None:
        self.left = 0

    @contextmanager
    def temporary(self) -> Iterator[Any]:
        try:
            yield SimpleNamespace(url="url", pid=1, folder=Path("folder"))
        finally:
            self.left += 1


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> Embedded:
    stand_in = Embedded()
    monkeypatch.setattr(server, "temporary", stand_in.temporary)
    return stand_in


def test_a_real_one() -> None:
    """It answers, and is gone afterwards with its folder."""
    with postgres() as running, psycopg.connect(running.uri) as connection:
        assert running.pid is not None
        assert connection.execute("select 1").fetchone() == (1,)
    assert not running.folder.exists()


def test_a_server_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the embedded room said, as an error of the demo's."""

    @contextmanager
    def fails() -> Iterator[Any]:
        raise EmbeddedServerError("the embedded PostgreSQL does not start: no space left")
        yield

    monkeypatch.setattr(server, "temporary", fails)
    with pytest.raises(DemoError, match=r"^the embedded PostgreSQL does not start: no space left$"), postgres():
        pass


def test_an_error_of_the_demo_is_not_the_servers(embedded: Embedded) -> None:
    """Raised inside, it comes out as it is."""
    with pytest.raises(EmbeddedServerError), postgres():
        raise EmbeddedServerError("mine")
    assert embedded.left == 1


def test_what_happens_inside_is_raised_after_the_clean_up(embedded: Embedded) -> None:
    """Ctrl-C stops the server as well."""
    with pytest.raises(KeyboardInterrupt), postgres():
        raise KeyboardInterrupt
    assert embedded.left == 1


def test_termination_unwinds_as_well(embedded: Embedded) -> None:
    """Who stops the demo by SIGTERM keeps no server; afterwards the signal does what it did before."""
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), postgres():
        signal.raise_signal(signal.SIGTERM)
    assert embedded.left == 1
    assert signal.getsignal(signal.SIGTERM) is before
