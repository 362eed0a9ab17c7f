"""Patience, as elsewhere, since a busy machine takes its time; and no luck."""

from types import SimpleNamespace

import pytest

from langgraph_prefetch.graph.near import call


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ranking is waited for however slow the machine is."""
    monkeypatch.setattr(call, "LEAST_PATIENCE_SECONDS", 5.0)
    monkeypatch.setattr(call, "PATIENCE_SECONDS", 5.0)


@pytest.fixture(autouse=True)
def _draw(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the served calls none is searched again by chance: only where a test asks for more than half of them."""
    monkeypatch.setattr(call, "random", SimpleNamespace(random=lambda: 0.5))
