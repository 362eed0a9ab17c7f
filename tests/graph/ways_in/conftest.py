"""Patience: searches in tests take no time, a busy machine does."""

import pytest

from langgraph_prefetch.speculation import answer


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call waits for its speculation however slow the machine is: else it would run after twice no time at all."""
    monkeypatch.setattr(answer, "LEAST_PATIENCE_SECONDS", 5.0)
