"""Patience, as elsewhere: searches in tests take no time, a busy machine does."""

import pytest

from langgraph_prefetch.graph.near import call


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ranking is waited for however slow the machine is."""
    monkeypatch.setattr(call, "LEAST_PATIENCE_SECONDS", 5.0)
    monkeypatch.setattr(call, "PATIENCE_SECONDS", 5.0)
