"""Models of Bedrock behind a gateway, by boto3's own errors."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel

from langgraph_prefetch.serving.gateway import BreakerRule, degraded_by, gateway
from langgraph_prefetch.testing.wire import LocalBedrock, Throttled, Turn, words
from tests.serving.gateway.parts import Log

ChatBedrockConverse = pytest.importorskip("langchain_aws").ChatBedrockConverse


def model(url: str) -> BaseChatModel:
    from botocore.config import Config

    made: BaseChatModel = ChatBedrockConverse(
        model_id="anthropic.claude-sonnet-4-local",
        endpoint_url=url,
        region_name="eu-central-1",
        aws_access_key_id="x",
        aws_secret_access_key="x",
        config=Config(retries={"total_max_attempts": 1}),
    )
    return made


def test_a_throttled_model_is_stood_in_for_and_one_that_refuses_is_not_down() -> None:
    """boto3 tells the status inside a dict: 429 opens the breaker, 400 is the request's own fault."""
    log = Log()
    small: Any = Turn(text=words("small"))
    with (
        LocalBedrock(lambda request: Turn(text=words("large"), fault=Throttled())) as busy,
        LocalBedrock() as refusing,  # a script without turns: 400
        LocalBedrock(lambda request: small) as healthy,
    ):
        throttled = gateway(
            model(busy.url), name="writer", fallback=model(healthy.url), breaker=BreakerRule(failures=1), events=log
        )
        for answer in (throttled.invoke("?"), throttled.invoke("?")):
            assert (answer.text, degraded_by(answer)) == ("small", "fallback")
        assert "".join(part.text for part in throttled.stream("?")) == "small"
        assert log.moves == ["opened"]
        assert len(busy.requests) == 1
        refused = gateway(model(refusing.url), fallback=model(healthy.url), breaker=BreakerRule(failures=1), events=log)
        assert [refused.invoke("?").text for _ in range(2)] == ["small", "small"]
        assert len(refusing.requests) == 2
        assert log.moves == ["opened"]
