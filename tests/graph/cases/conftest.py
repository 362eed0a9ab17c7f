"""Fake credentials, which client classes ask for before they talk to a scripted server; and patience."""

import pytest

from langgraph_prefetch.speculation import answer


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call waits for its speculation however slow the machine is: else it would run after twice no time at all."""
    monkeypatch.setattr(answer, "LEAST_PATIENCE_SECONDS", 5.0)


@pytest.fixture
def _fake_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL", "OPENAI_PROXY", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
