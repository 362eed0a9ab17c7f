"""Patience, and no experiment left over for the tests of others: they are the whole process's."""

from collections.abc import Iterator

import pytest

from langgraph_prefetch import live_variants
from langgraph_prefetch.speculation import answer


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call waits for its speculation however slow the machine is: else it would run after twice no time at all."""
    monkeypatch.setattr(answer, "LEAST_PATIENCE_SECONDS", 5.0)


@pytest.fixture(autouse=True)
def _no_experiment_stays() -> Iterator[None]:
    yield
    live_variants._live.clear()
