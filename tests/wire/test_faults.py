"""What real clients make of a failing endpoint, asked plainly and made to stream: the price of turning streaming on."""

from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel

from langgraph_prefetch.testing.wire import Cut, ErrorEvent, Throttled, Turn
from tests.wire.clients import ANTHROPIC, AZURE, BEDROCK, OPENAI, Client
from tests.wire.listening import Listener

TEXT = ("alpha ", "beta ")

each_client = pytest.mark.parametrize("client", [OPENAI, AZURE, ANTHROPIC, BEDROCK], ids=lambda client: client.name)


async def failure(model: BaseChatModel, style: str, *handlers: Listener) -> BaseException | None:
    config: Any = {"callbacks": list(handlers)}
    try:
        await model.ainvoke("q", config) if style == "ainvoke" else model.invoke("q", config)
    except Exception as error:  # noqa: BLE001  whatever it is, it is the result
        return error
    return None


@pytest.mark.parametrize("style", ["invoke", "ainvoke"])
@each_client
async def test_throttling_fails_alike(client: Client, style: str) -> None:
    """Throttled before the first token, a plain and a streamed call raise the same class of error."""
    with client.wire([Turn(fault=Throttled())]) as server:
        model = client.build(server.url)
        plain, streamed = await failure(model, style), await failure(model, style, Listener())
    assert plain is not None
    assert "too many requests" in str(plain)
    assert type(streamed).__name__ == type(plain).__name__


@pytest.mark.parametrize("style", ["invoke", "ainvoke"])
@each_client
async def test_endpoint_that_refuses_streaming(client: Client, style: str) -> None:
    """Why ``auto`` trusts known addresses only: where streaming is refused, forcing it breaks a working call."""
    listener = Listener()
    with client.wire([Turn(text=TEXT)], refuse_streaming=True) as server:
        model = client.build(server.url)
        assert await failure(model, style) is None
        assert "streaming is not supported" in str(await failure(model, style, listener))
    assert listener.heard == 0


@pytest.mark.parametrize("style", ["invoke", "ainvoke"])
@pytest.mark.parametrize("fault", [Cut(1), ErrorEvent(1)], ids=["cut", "error event"])
@each_client
async def test_broken_stream_is_an_error(client: Client, style: str, fault: Cut | ErrorEvent) -> None:
    """A stream that breaks after the first token raises; no client takes the part for the whole."""
    listener = Listener()
    with client.wire([Turn(text=TEXT, fault=fault)]) as server:
        assert await failure(client.build(server.url), style, listener) is not None
    assert listener.heard >= 1


@pytest.mark.parametrize("client", [OPENAI, AZURE, ANTHROPIC], ids=lambda client: client.name)
def test_overload_is_retried_only_before_the_first_token(client: Client) -> None:
    """A known cost of forced streaming: clients retry a failed plain call, never a stream that has begun."""
    with client.wire([Turn(text=TEXT, fault=ErrorEvent(1))]) as server:
        model = client.build(server.url, max_retries=2)
        for handlers, requests in ([], 3), ([Listener()], 1):
            config: Any = {"callbacks": handlers}
            before = len(server.requests)
            with pytest.raises(Exception, match="overloaded"):
                model.invoke("q", config)
            assert len(server.requests) - before == requests
