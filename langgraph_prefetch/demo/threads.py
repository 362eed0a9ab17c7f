"""Several things at the same time, each on a thread that nobody has to wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

Result = TypeVar("Result")
Other = TypeVar("Other")


def side_by_side(one: Callable[[], Result], other: Callable[[], Other]) -> tuple[Result, Other]:
    """Run both at the same time and return their results.

    Raises:
        BaseException: what one of them raised.
    """
    first, second = _Work(one), _Work(other)
    return first.result(), second.result()


def all_at_once(works: Iterable[Callable[[], Result]]) -> list[Result]:
    """Run all at the same time and return their results in order.

    Raises:
        BaseException: what the first of them raised.
    """
    started = [_Work(work) for work in works]
    return [each.result() for each in started]


class _Work(Generic[Result]):
    def __init__(self, work: Callable[[], Result]) -> None:
        self._work = work
        self._results: list[Result] = []
        self._error: BaseException | None = None
        # A daemon: after Ctrl-C nobody waits for a model.
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._results.append(self._work())
        except BaseException as error:  # noqa: BLE001 - raised where the result is asked for
            self._error = error

    def result(self) -> Result:
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._results[0]
