"""Fake credentials: boto3 asks for some before it talks to the local server."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def _fake_credentials() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_BEARER_TOKEN_BEDROCK"):
            patch.delenv(name, raising=False)
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        yield
