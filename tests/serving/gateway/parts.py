"""Components that do as they are told, a clock that is set by hand, and a log of events."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig

from langgraph_prefetch.events import BreakerMoved, ComponentCalled, Event
from langgraph_prefetch.speculative import speculating


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Log(list[Event]):
    """An event sink."""

    def __call__(self, event: Event) -> None:
        self.append(event)

    @property
    def calls(self) -> list[ComponentCalled]:
        return [each for each in self if isinstance(each, ComponentCalled)]

    @property
    def outcomes(self) -> list[tuple[str, str]]:
        return [(each.component, each.outcome) for each in self.calls]

    @property
    def moves(self) -> list[str]:
        return [each.state for each in self if isinstance(each, BreakerMoved)]


class Component(Runnable[Any, Any]):
    """Answers with its name; raises ``error`` while that is set; ``wait`` is called before it answers."""

    def __init__(self, name: str, error: BaseException | None = None, wait: Callable[[], object] | None = None) -> None:
        self.name, self.error, self.wait, self.calls = name, error, wait, 0

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        self.calls += 1
        if self.wait is not None:
            self.wait()
        if self.error is not None:
            raise self.error
        return self.name


class Docs(BaseRetriever):
    """Finds one document, or fails."""

    text: str = "found"
    failing: bool = False

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        if self.failing:
            raise ConnectionError("down")
        return [Document(f"{self.text}: {query}")]


@contextmanager
def speculation() -> Iterator[None]:
    token = speculating.set(True)
    try:
        yield
    finally:
        speculating.reset(token)


@contextmanager
def in_threads(count: int, call: Callable[[int], Any]) -> Iterator[list[Any]]:
    """``call`` in as many threads; what each gave or raised, complete after the block."""
    found: list[Any] = [None] * count

    def run(number: int) -> None:
        try:
            found[number] = call(number)
        except Exception as error:  # noqa: BLE001 - shown to the test
            found[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for each in threads:
        each.start()
    yield found
    for each in threads:
        each.join(30)
    assert not any(each.is_alive() for each in threads)
