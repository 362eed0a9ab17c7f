"""Every task is done, whenever the threads are told to end; and they do end."""

import threading
import uuid
import weakref

from langgraph_prefetch.retrieval.database.workers import Workers


def names_of(name: str) -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == name]


def test_tasks_that_come_before_and_after_the_end() -> None:
    """One runs, one waits, one comes too late, while a thread that was free has been told to go: all three are done."""
    name = uuid.uuid4().hex
    workers, go_on, begun = Workers(2, name), threading.Event(), threading.Event()
    done = [threading.Event() for _ in range(3)]

    def first() -> None:
        begun.set()
        go_on.wait(30)
        done[0].set()

    both = threading.Barrier(3, timeout=30)

    def meet() -> None:
        both.wait()

    for _ in range(2):  # two threads, which are free afterwards
        workers.submit(meet)
    both.wait()
    workers.submit(first)
    begun.wait(30)
    workers.submit(done[1].set)
    workers.close()
    workers.submit(done[2].set)
    assert done[1].wait(30)
    assert done[2].wait(30)
    go_on.set()
    assert done[0].wait(30)
    for thread in names_of(name):
        thread.join(30)
    assert names_of(name) == []


def test_what_a_task_made_does_not_live_on_with_its_thread() -> None:
    """A result may be large, and the next task may come tomorrow."""

    class Result:
        """One that can be watched."""

    workers, next_one = Workers(1, uuid.uuid4().hex), threading.Event()
    for _ in range(2):
        made = Result()
        watched = weakref.ref(made)
        workers.submit(lambda held=made: None)  # type: ignore[misc]
        del made
        next_one.clear()
        workers.submit(next_one.set)  # the thread has gone on to it
        assert next_one.wait(30)
        assert watched() is None
    workers.close()
