"""Where streams are read: in order, on a thread beside the model's, and never too many waiting for it."""

import threading

from langgraph_prefetch.speculation.reading import MAX_DUE, ReadingAtOnce, ReadingThread


def test_at_once() -> None:
    """On the calling thread, before `soon` returns."""
    on: list[str] = []
    ReadingAtOnce().soon(lambda: on.append(threading.current_thread().name))
    assert on == [threading.current_thread().name]


def test_beside_the_model_in_order() -> None:
    """On one thread of its own, each piece of work once and in turn."""
    reading, done, seen = ReadingThread(), threading.Event(), list[int]()
    names: set[str] = set()

    def read(number: int) -> None:
        seen.append(number)
        names.add(threading.current_thread().name)
        if number == 9:
            done.set()

    for number in range(10):
        reading.soon(lambda number=number: read(number))  # type: ignore[misc]
    assert done.wait(10)
    assert seen == list(range(10))
    assert names == {"langgraph-prefetch-reading"}


def test_what_waits_is_bounded() -> None:
    """While the thread is held up, further streams are read by those who bring them; none is lost."""
    reading, held, go = ReadingThread(), threading.Event(), threading.Event()

    def hold() -> None:
        held.set()
        go.wait(10)

    reading.soon(hold)
    assert held.wait(10)
    here: list[int] = []
    left = threading.Semaphore(0)

    def read(number: int) -> None:
        if threading.current_thread() is threading.main_thread():
            here.append(number)
        left.release()

    for number in range(3 * MAX_DUE):
        reading.soon(lambda number=number: read(number))  # type: ignore[misc]
    assert here == list(range(MAX_DUE, 3 * MAX_DUE))
    go.set()
    assert all(left.acquire(timeout=10) for _ in range(3 * MAX_DUE))
