"""A request to cancel hits the query that it is meant for, or a connection that nobody gets any more."""

import threading
from types import SimpleNamespace
from typing import Any

import psycopg

from langgraph_prefetch.retrieval.database.cancelling import Cancelling


class Connection:
    """As much of one as is looked at, whose server answers a request to cancel as it is told to."""

    def __init__(self, answer: Any) -> None:
        self.connection = SimpleNamespace(driver_connection=SimpleNamespace(cancel_safe=answer))
        self.closed = False
        self.invalidated = 0

    def invalidate(self) -> None:
        self.invalidated += 1


def use(cancelling: Cancelling, connection: Any, until: threading.Event) -> threading.Thread:
    """Work on a thread of its own, which ends when it has let go of the connection."""

    def work() -> None:
        with cancelling.using(connection):
            until.wait(30)
        cancelling.end()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def cancel(cancelling: Cancelling, asked: threading.Event) -> threading.Thread:
    thread = threading.Thread(target=cancelling.cancel, args=(30,))
    thread.start()
    assert asked.wait(30)
    return thread


def test_a_connection_is_kept_until_the_request_has_been_answered() -> None:
    """Else it would hit whoever has the connection next."""
    asked, answer = threading.Event(), threading.Event()

    def slowly(timeout: float) -> None:
        asked.set()
        answer.wait(timeout)

    cancelling, connection = Cancelling(), Connection(slowly)
    work, request = use(cancelling, connection, asked), cancel(cancelling, asked)
    work.join(0.2)
    assert work.is_alive()
    answer.set()
    work.join(30)
    request.join(30)
    assert not work.is_alive()
    assert not request.is_alive()
    assert connection.invalidated == 0


def test_a_request_without_an_answer() -> None:
    """It may reach the server yet: so the connection is given up."""
    asked = threading.Event()

    def never(timeout: float) -> None:
        asked.set()
        raise psycopg.errors.CancellationTimeout

    cancelling, connection = Cancelling(), Connection(never)
    work, request = use(cancelling, connection, asked), cancel(cancelling, asked)
    work.join(30)
    request.join(30)
    assert connection.invalidated == 1
