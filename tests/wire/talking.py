"""Raw HTTP to a scripted server, without any client library."""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from langgraph_prefetch.testing.wire import AnthropicWire, BedrockWire, OpenAIWire
from langgraph_prefetch.testing.wire.server import WireServer

WIRES = (OpenAIWire, AnthropicWire, BedrockWire)


@dataclass(frozen=True)
class Heard:
    """An answer; ``cut`` if the connection ended before the answer did."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    cut: bool = False


def post(server: WireServer, path: str, body: bytes) -> Heard:
    """Send a body and read whatever comes until the end or the cut."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=5)
    try:
        connection.request("POST", path, body)
        answer = connection.getresponse()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        try:
            return Heard(answer.status, headers, answer.read())
        except http.client.IncompleteRead as error:
            return Heard(answer.status, headers, error.partial, cut=True)
    finally:
        connection.close()


def ask(server: WireServer, *, streamed: bool, turn: int = 0, prompt: str = "go") -> Heard:
    """A minimal request of the server's own dialect, after ``turn`` assistant messages."""
    text: Any = [{"text": prompt}] if isinstance(server, BedrockWire) else prompt
    said: Any = [{"text": "so"}] if isinstance(server, BedrockWire) else "so"
    history = [{"role": "user", "content": text}, {"role": "assistant", "content": said}] * turn
    body: dict[str, Any] = {"messages": [*history, {"role": "user", "content": text}]}
    if isinstance(server, BedrockWire):
        return post(server, f"/model/m%3A0/converse{'-stream' if streamed else ''}", json.dumps(body).encode())
    body |= {"model": "m", "stream": streamed}
    path = "/v1/messages" if isinstance(server, AnthropicWire) else "/v1/chat/completions"
    return post(server, path, json.dumps(body).encode())
