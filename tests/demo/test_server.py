"""The demo's server is the embedded one, and never outlives the demo."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from langgraph_prefetch.demo import server
from langgraph_prefetch.demo.server import postgres


class Embedded:
    """Stands for the embedded room: starts nothing, and notes how it was entered and that it was left."""

    def __init__(self) -> None:
        self.durable: list[bool] = []
        self.left = 0

    @contextmanager
    def temporary(self, *, durable: bool) -> Iterator[Any]:
        self.durable.append(durable)
        try:
            yield object()
        finally:
            self.left += 1


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> Embedded:
    stand_in = Embedded()
    monkeypatch.setattr(server, "temporary", stand_in.temporary)
    return stand_in


def test_a_real_one() -> None:
    """It answers, and is gone afterwards with its folder."""
    with postgres(durable=False) as running, psycopg.connect(running.url) as connection:
        assert running.pid is not None
        assert connection.execute("select 1").fetchone() == (1,)
    assert not running.folder.exists()


def test_who_measures_writes_gets_a_server_that_keeps_them(embedded: Embedded) -> None:
    """Benchmarks of ingestion use it as well: speed at the price of durability is asked for, not given."""
    with postgres(), postgres(durable=False):
        pass
    assert embedded.durable == [True, False]


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
