"""Fake credentials: client classes ask for some before they talk to a scripted server."""

import asyncio
from collections.abc import Iterator

import pytest

from tests.wire.clients import Client
from tests.wire.comparing import Outcome, outcomes


@pytest.fixture(autouse=True, scope="package")
def _fake_credentials() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL", "OPENAI_PROXY", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL"):
            patch.delenv(name, raising=False)
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        yield


@pytest.fixture(scope="package")
def compared(_fake_credentials: None) -> dict[Client, tuple[Outcome, ...]]:
    """Every outcome of every client, filled on first use: a comparison costs two model calls."""
    return {}


@pytest.fixture
def outcomes_of(compared: dict[Client, tuple[Outcome, ...]], client: Client) -> tuple[Outcome, ...]:
    """The outcomes of the ``client`` that the test is parametrised with."""
    if client not in compared:
        compared[client] = asyncio.run(outcomes(client))
    return compared[client]
