"""Rigs of the machine: an engine, a hand-driven clock, and searches that end when told."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from langgraph_prefetch.config import ExecutorLimits
from langgraph_prefetch.speculation.executor import Executor
from langgraph_prefetch.speculation.loops import BackgroundLoop
from tests.speculation.elsewhere_rig import Bench, MakeBench
from tests.speculation.kit import Kit
from tests.speculation.rig import Rig, rigged


@pytest.fixture
def rig() -> Iterator[Rig]:
    with rigged() as made:
        yield made


@pytest.fixture
def reusing() -> Iterator[Rig]:
    with rigged(reuse_seconds=30.0) as made:
        yield made


@pytest.fixture
def make() -> Iterator[Callable[..., Kit]]:
    made: list[Executor] = []

    def build(**limits: int) -> Kit:
        executor = Executor(BackgroundLoop(), ExecutorLimits(**limits), time.monotonic)
        made.append(executor)
        return Kit(executor)

    yield build
    for executor in made:
        executor.close()


@pytest.fixture
def bench() -> Iterator[MakeBench]:
    made: list[Bench] = []

    def make(**options: Any) -> Bench:
        made.append(Bench(**options))
        return made[-1]

    yield make
    for each in made:
        each.engine.pause()
        each.loop.settle()
        each.shared.executor.close()
        each.loop.settle()
        each.loop.close()
