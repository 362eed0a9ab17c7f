"""The detector's reading thread reads larger batches while it is busy."""

import threading
from collections.abc import Iterator

import pytest

from langgraph_prefetch.serving.granularity import Grain, LoadedReading, read_by_load
from langgraph_prefetch.speculation import shared
from langgraph_prefetch.speculation.reading import GATHER_SECONDS, ReadingThread, SameGathering
from langgraph_prefetch.speculation.shared import process_wide


@pytest.fixture
def _as_before() -> Iterator[None]:
    yield
    shared.gather_by(SameGathering())


def test_tokens_gather_longer_under_load_and_a_millisecond_when_idle() -> None:
    """Never longer than the rules say."""
    reading = LoadedReading(Grain(most=8, memory_seconds=0.001))
    assert [reading.gather_seconds(0.099, 0.001) for _ in range(4)] == [GATHER_SECONDS * n for n in (1, 2, 4, 8)]
    assert [reading.gather_seconds(0.0, 0.05) for _ in range(4)] == [GATHER_SECONDS * n for n in (4, 2, 1, 1)]
    assert reading.gather_seconds(0.0, 0.0) == GATHER_SECONDS


@pytest.mark.usefixtures("_as_before")
def test_the_process_takes_it_at_once_and_keeps_it() -> None:
    """Whether its thread runs already or not."""
    read_by_load()
    thread = process_wide().reading
    assert isinstance(thread, ReadingThread)
    assert isinstance(thread.gathering, LoadedReading)
    read_by_load(Grain(most=1))
    assert thread.gathering.granularity.grain.most == 1


def test_the_thread_asks_after_each_round() -> None:
    """With how long it read and how long tokens gathered before."""
    asked: list[tuple[float, float]] = []
    done, told = threading.Event(), threading.Event()

    class Gathering:
        def gather_seconds(self, read_seconds: float, gathered_seconds: float) -> float:
            asked.append((read_seconds, gathered_seconds))
            if len(asked) == 2:
                told.set()
            return 0.0

    thread = ReadingThread(Gathering())
    thread.soon(done.set)
    assert done.wait(10)
    thread.soon(lambda: None)
    assert told.wait(10)
    assert asked[0] == (0.0, 0.0)
    assert asked[1][1] > 0
