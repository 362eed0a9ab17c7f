"""A real PostgreSQL for memory that several processes share, and patience: see `tests/graph/ways_in`."""

import pytest

from langgraph_prefetch.speculation import answer
from tests.postgres import database_url, postgres_server

__all__ = ["database_url", "postgres_server"]


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call waits for its speculation however slow the machine is."""
    monkeypatch.setattr(answer, "LEAST_PATIENCE_SECONDS", 5.0)
